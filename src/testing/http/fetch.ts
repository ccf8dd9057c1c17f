import { isBodyless } from '../answer.ts'
import type { ServiceClock } from '../clock.ts'
import type { FaultOutcome, Transmission } from '../faults/plan.ts'
import { delay, untilAborted } from './delay.ts'
import type { ServiceRequest } from './request.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MAX_REDIRECTS = 20

/** A `fetch` in front of the service: what a client sees of a network, without one. */
export function createServiceFetch(
  answer: (request: ServiceRequest) => FaultOutcome,
  clock: ServiceClock,
): typeof globalThis.fetch {
  const once = async (request: Request): Promise<Response> => {
    const { signal } = request
    const body = new Uint8Array(await request.arrayBuffer())
    signal.throwIfAborted()
    const outcome = answer({ method: request.method, url: new URL(request.url), headers: request.headers, body })
    if (outcome.kind === 'lost') throw lostConnection('fetch failed')
    if (outcome.kind === 'silent') return untilAborted(signal)
    if (outcome.transmission === 'whole' && outcome.delayMs > 0) await delay(clock, outcome.delayMs, signal)
    const { status, headers, body: text } = outcome.answer
    if (isBodyless(status)) return new Response(null, { status, headers })
    const bytes = new TextEncoder().encode(text)
    return new Response(transmit(bytes, outcome.transmission, outcome.delayMs, signal, clock), {
      status,
      headers: { ...headers, 'content-length': String(bytes.length) },
    })
  }

  return async (input, init) => {
    let request = new Request(input, init)
    for (let redirects = 0; ; redirects++) {
      const retained = request.redirect === 'follow' ? request.clone() : request
      const response = await once(request)
      const location = response.headers.get('location')
      if (request.redirect === 'manual' || location === null || !REDIRECTS.has(response.status)) return response
      if (request.redirect === 'error') throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') })
      if (redirects === MAX_REDIRECTS) {
        throw new TypeError('fetch failed', { cause: new Error('redirect count exceeded') })
      }
      request = await redirected(retained, new URL(location, request.url), response.status)
    }
  }
}

/** The next request of a redirect that is followed, by the rules of fetch. */
async function redirected(request: Request, url: URL, status: number): Promise<Request> {
  const headers = new Headers(request.headers)
  if (url.origin !== new URL(request.url).origin) headers.delete('authorization')
  const becomesGet = status === 303 || (request.method === 'POST' && (status === 301 || status === 302))
  const { signal } = request
  if (becomesGet) {
    headers.delete('content-type')
    headers.delete('content-length')
    return new Request(url, { headers, signal })
  }
  const body = request.method === 'GET' || request.method === 'HEAD' ? null : await request.arrayBuffer()
  return new Request(url, { method: request.method, headers, body, signal })
}

function transmit(
  bytes: Uint8Array<ArrayBuffer>,
  transmission: Transmission,
  delayMs: number,
  signal: AbortSignal,
  clock: ServiceClock,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (transmission === 'whole') return bytes
  const half = bytes.subarray(0, Math.floor(bytes.length / 2))
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      try {
        if (transmission === 'dripped') {
          for (let index = 0; index < bytes.length; index++) {
            if (index > 0) await delay(clock, delayMs, signal)
            controller.enqueue(bytes.slice(index, index + 1))
          }
          controller.close()
        } else {
          controller.enqueue(half)
          if (transmission === 'stalled') await untilAborted(signal)
        }
      } catch (error) {
        controller.error(error)
      }
    },
    // Called once the half that was sent has been read: an error any earlier would take it away from the reader.
    pull(controller) {
      if (transmission === 'truncated') controller.error(lostConnection('terminated'))
    },
  })
}

const lostConnection = (message: string): TypeError =>
  new TypeError(message, { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) })
