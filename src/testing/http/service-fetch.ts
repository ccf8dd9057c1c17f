import { abortableDelay, type ServiceClock, untilAborted } from '../clock/service-clock.ts'
import type { FaultOutcome, Transmission } from '../faults/fault-effect.ts'
import { isBodyless, type ServiceRequest } from './request-and-response.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Returns a `fetch` that reaches the service without a network. */
export function createServiceFetch(
  handle: (request: ServiceRequest) => FaultOutcome,
  clock: ServiceClock,
): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { signal } = request
    const body = new Uint8Array(await request.arrayBuffer())
    signal.throwIfAborted()
    const outcome = handle({ method: request.method, url: new URL(request.url), headers: request.headers, body })
    if (outcome.kind === 'lost') throw lostConnection('fetch failed')
    if (outcome.kind === 'silent') return untilAborted(signal)
    if (outcome.transmission === 'whole' && outcome.delayMs > 0) await abortableDelay(clock, outcome.delayMs, signal)
    const { status, headers, body: text } = outcome.response
    if (request.redirect === 'error' && REDIRECTS.has(status)) {
      throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') })
    }
    if (isBodyless(status)) return new Response(null, { status, headers })
    const bytes = new TextEncoder().encode(text)
    return new Response(transmit(bytes, outcome.transmission, outcome.delayMs, signal, clock), {
      status,
      headers: { ...headers, 'content-length': String(bytes.length) },
    })
  }
}

function transmit(
  bytes: Uint8Array<ArrayBuffer>,
  transmission: Transmission,
  delayMs: number,
  signal: AbortSignal,
  clock: ServiceClock,
): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (transmission === 'whole') return bytes
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      try {
        if (transmission === 'dripped') {
          for (let index = 0; index < bytes.length; index++) {
            if (index > 0) await abortableDelay(clock, delayMs, signal)
            controller.enqueue(bytes.slice(index, index + 1))
          }
          controller.close()
        } else {
          controller.enqueue(bytes.subarray(0, Math.floor(bytes.length / 2)))
          if (transmission === 'stalled') await untilAborted(signal)
        }
      } catch (error) {
        controller.error(error)
      }
    },
    // Called after the first half was read. An earlier error would discard that half.
    pull(controller) {
      if (transmission === 'truncated') controller.error(lostConnection('terminated'))
    },
  })
}

const lostConnection = (message: string): TypeError =>
  new TypeError(message, { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) })
