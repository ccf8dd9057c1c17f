import type { Cancellation } from '../transports/transport.ts'

/** The cancellation of one attempt. */
export class AttemptCancellation implements Cancellation {
  readonly #listeners = new Set<(reason: Error) => void>()
  #reason: Error | undefined
  #controller: AbortController | undefined

  /** Created when it is first read: an `AbortSignal` for each attempt would take a fifth of the CPU time of `nodeTransport`. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  /** A field, because a transport may call it without its object. */
  readonly onCancel: Cancellation['onCancel'] = (listener) => {
    if (this.#reason !== undefined) {
      listener(this.#reason)
      return () => undefined
    }
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  cancel(reason: Error): void {
    this.#reason = reason
    for (const listener of [...this.#listeners]) listener(reason)
    this.#controller?.abort(reason)
  }
}
