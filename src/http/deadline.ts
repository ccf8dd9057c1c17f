import { follow } from './follow.ts'

/** What `within` rejects with when the time is up. Not an error: it never leaves this folder. */
export const TIME_IS_UP = Symbol('time is up')

/**
 * Runs `work` until it settles, `ms` have passed (rejects with {@link TIME_IS_UP}), or `signal` aborts (rejects with
 * its reason), whichever is first. The work's own signal aborts in the last two cases, but nothing waits for the
 * work to heed it: a `fetch` that ignores signals cannot hold a call.
 */
export function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const controller = new AbortController()
    const settle = (): void => {
      clearTimeout(timer)
      unfollow?.()
    }
    const stop = (reason: unknown): void => {
      settle()
      reject(reason)
      controller.abort(reason)
    }
    if (signal?.aborted) return reject(signal.reason)
    const unfollow = signal && follow(signal, () => stop(signal.reason))
    const timer = setTimeout(() => stop(TIME_IS_UP), Math.max(0, ms))
    work(controller.signal).then(
      (value) => {
        settle()
        resolve(value)
      },
      (reason: unknown) => {
        settle()
        reject(reason)
      },
    )
  })
}

/** Waits, unless `signal` aborts first: then rejects with its reason at once. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return within(ms, signal, () => new Promise<never>(() => undefined)).catch((reason: unknown) => {
    if (reason !== TIME_IS_UP) throw reason
  })
}
