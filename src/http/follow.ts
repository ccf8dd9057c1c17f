interface Followers {
  readonly callbacks: Set<() => void>
  readonly listener: () => void
}

const followersOf = new WeakMap<AbortSignal, Followers>()

/**
 * Calls `onAbort` when `signal` aborts, until the returned function is called. Calling that twice does nothing.
 *
 * However many calls follow a signal, it gets one listener: at the eleventh, Node warns of a memory leak. And none
 * stays behind: `AbortSignal.any` would keep some 80 bytes a call on a signal that lives as long as the process.
 */
export function follow(signal: AbortSignal, onAbort: () => void): () => void {
  const { callbacks, listener } = followersOf.get(signal) ?? newFollowers(signal)
  callbacks.add(onAbort)
  return () => {
    if (!callbacks.delete(onAbort) || callbacks.size > 0) return
    signal.removeEventListener('abort', listener)
    followersOf.delete(signal)
  }
}

function newFollowers(signal: AbortSignal): Followers {
  const callbacks = new Set<() => void>()
  const listener = (): void => {
    for (const callback of [...callbacks]) callback()
  }
  signal.addEventListener('abort', listener)
  const followers = { callbacks, listener }
  followersOf.set(signal, followers)
  return followers
}
