interface Listeners {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

const listenersOf = new WeakMap<AbortSignal, Listeners>()

/**
 * Calls `callback` when `signal` aborts, until the returned function is called. Calling that twice does nothing.
 *
 * All calls share one listener per signal, because Node warns of a memory leak from the eleventh listener on. The listener
 * is removed with the last callback. `AbortSignal.any` would leak about 80 bytes per call on a long-lived signal.
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
