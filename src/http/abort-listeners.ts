interface Listeners {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

const listenersOf = new WeakMap<AbortSignal, Listeners>()

/**
 * Calls `callback` when `signal` aborts, until the returned function is called. Calling that twice does nothing.
 *
 * However many calls listen to a signal, it gets one listener: at the eleventh, Node warns of a memory leak. And none
 * stays behind: `AbortSignal.any` would keep some 80 bytes a call on a signal that lives as long as the process.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, listener } = listenersOf.get(signal) ?? newListeners(signal)
  callbacks.add(callback)
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return
    listenersOf.delete(signal)
    try {
      signal.removeEventListener('abort', listener)
    } catch {
      // One of a polyfill may throw; a call that has ended must not hang on it.
    }
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
