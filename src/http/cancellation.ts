import type { Transport, TransportRequest, TransportResponse } from '../transport.ts'

/** Tells a transport to end an attempt early. */
export interface Cancellation {
  /** The reason of the cancellation; `undefined` before it. */
  readonly reason: unknown
  /** Calls `listener` on cancellation. The returned function removes the listener. */
  onCancel(listener: () => void): () => void
}

/**
 * A `send` whose variant `cancellable` takes a cancellation instead of a signal. Creating an `AbortSignal` would take a fifth
 * of the CPU time of `nodeTransport`. A partner's wrapper of `send` has no variant, so it gets a signal.
 */
export interface CancellableSend {
  (...args: Parameters<Transport['send']>): Promise<TransportResponse>
  cancellable?: (request: TransportRequest, cancellation: Cancellation) => Promise<TransportResponse>
}

/** The cancellation of one attempt. Creates its `AbortSignal` on demand. */
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

export const cancellationOf = (signal: AbortSignal): Cancellation => ({
  get reason() {
    return signal.aborted ? signal.reason : undefined
  },
  onCancel: (listener) => onAbort(signal, listener),
})

interface Listeners {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

const listenersOf = new WeakMap<AbortSignal, Listeners>()

/**
 * Calls `callback` when `signal` aborts. The returned function removes the callback.
 *
 * All callbacks of a signal share one listener, because Node warns of a memory leak from the eleventh listener on. The
 * listener is removed with the last callback. `AbortSignal.any` would leak about 80 bytes per call on a long-lived signal.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, listener } = listenersOf.get(signal) ?? newListeners(signal)
  callbacks.add(callback)
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return
    listenersOf.delete(signal)
    signal.removeEventListener('abort', listener)
  }
}

function newListeners(signal: AbortSignal): Listeners {
  const callbacks = new Set<() => void>()
  const listener = (): void => {
    for (const callback of [...callbacks]) callback()
  }
  signal.addEventListener('abort', listener)
  const listeners = { callbacks, listener }
  listenersOf.set(signal, listeners)
  return listeners
}
