import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'
import { onAbort } from './abort-listeners.ts'

/** Tells an attempt that it must end early. */
export interface Cancellation {
  /** Why the attempt must end; `undefined` while it may go on. */
  readonly reason: unknown
  /** Calls `listener` once, unless the returned function is called first. */
  onCancel(listener: () => void): () => void
}

/**
 * A `send` that also accepts a cancellation. `nodeTransport` has one: creating an `AbortSignal` takes a fifth of its call. It
 * is a property of the function, so a function that replaces `send` gets a signal as usual.
 */
export interface CancellableSend {
  (...args: Parameters<Transport['send']>): Promise<TransportResponse>
  cancellable?: (request: TransportRequest, cancellation: Cancellation) => Promise<TransportResponse>
}

/** The cancellation of one attempt. It creates its signal on demand. */
export class AttemptCancellation implements Cancellation {
  #reason: Error | undefined
  #listener: (() => void) | undefined
  #controller: AbortController | undefined

  get reason(): Error | undefined {
    return this.#reason
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  onCancel(listener: () => void): () => void {
    this.#listener = listener
    return () => {
      this.#listener = undefined
    }
  }

  cancel(reason: Error): void {
    this.#reason = reason
    this.#listener?.()
    this.#controller?.abort(reason)
  }
}

/** The cancellation that follows a signal. */
export const cancellationOf = (signal: AbortSignal): Cancellation => ({
  get reason() {
    return signal.aborted ? signal.reason : undefined
  },
  onCancel: (listener) => onAbort(signal, listener),
})
