import { abortableDelay, type ServiceClock, untilAborted } from '../clock.ts'
import { lostConnection, type Outcome, transmit } from '../faults/faults.ts'
import { isBodyless, type ServiceRequest } from './messages.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Returns a `fetch` that reaches the service without a network. */
export function createServiceFetch(
  handle: (request: ServiceRequest) => Outcome,
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
    const { transmission, delayMs } = outcome
    if (transmission === 'whole' && delayMs > 0) await abortableDelay(clock, delayMs, signal)
    const { status, headers, body: text } = outcome.response
    if (request.redirect === 'error' && REDIRECTS.has(status)) {
      throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') })
    }
    if (isBodyless(status)) return new Response(null, { status, headers })
    const bytes = new TextEncoder().encode(text)
    return new Response(transmission === 'whole' ? bytes : streamOf(transmit(bytes, outcome, clock, signal)), {
      status,
      headers: { ...headers, 'content-length': String(bytes.length) },
    })
  }
}

/** Reads each part only after the previous part was read: an error of the stream discards its unread parts. */
const streamOf = (parts: AsyncGenerator<Uint8Array<ArrayBuffer>, void>) =>
  new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
