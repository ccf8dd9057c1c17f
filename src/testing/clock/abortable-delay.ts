import type { ServiceClock } from './service-clock.ts'

/** Resolves after `ms` on the clock. Rejects with the signal's reason when it aborts. */
export function abortableDelay(clock: ServiceClock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clock.clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = clock.setTimeout(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
  })
}

/** Rejects with the signal's reason when it aborts; never resolves. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
