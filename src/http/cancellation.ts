import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'

/**
 * Ends a piece of work before its time. An `AbortSignal` does the same, and is made for those who ask for one; to make it and to
 * listen to it takes a third of what a call takes besides sending, so our own transport does without.
 */
export class Cancellation {
  #controller: AbortController | undefined
  #stop: ((reason: unknown) => void) | undefined
  #cancelled: { readonly reason: unknown } | undefined

  /** To be asked for before the cancellation. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  /** Has `stop` called when the work is to end, at once if it was to end before. It takes the place of an earlier one. */
  onCancel(stop: (reason: unknown) => void): void {
    this.#stop = stop
    if (this.#cancelled !== undefined) stop(this.#cancelled.reason)
  }

  /** Ends the work, once. */
  cancel(reason: unknown): void {
    this.#cancelled = { reason }
    this.#stop?.(reason)
    this.#controller?.abort(reason)
  }
}

/** What the port calls `send`, for a {@link Cancellation} in the place of a signal. */
export type CancellableSend = (request: TransportRequest, cancellation: Cancellation) => Promise<TransportResponse>

/** By the function, not by its transport: who puts another `send` in its place, a spy or a wrapper, has that one called. */
const cancellables = new WeakMap<Transport['send'], CancellableSend>()

/** Makes the `send` of the port of one that needs no signal. {@link cancellableSend} finds the way back. */
export function sendBySignal(send: CancellableSend): Transport['send'] {
  const bySignal: Transport['send'] = async (request, signal) => {
    if (signal.aborted) throw signal.reason
    const cancellation = new Cancellation()
    const cancel = (): void => cancellation.cancel(signal.reason)
    signal.addEventListener('abort', cancel)
    try {
      return await send(request, cancellation)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
  cancellables.set(bySignal, send)
  return bySignal
}

/** How to send by a transport, whichever it is. */
export const cancellableSend = (transport: Transport): CancellableSend =>
  cancellables.get(transport.send) ??
  // One of a partner's may give its answer without a promise.
  ((request, cancellation) => Promise.resolve(transport.send(request, cancellation.signal)))
