import type { ServiceClock } from './service-clock.ts'

/** Resolves after `ms` on the clock. Rejects with the reason of the signal when the signal aborts. */
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

/** Rejects with the reason of the signal when the signal aborts. Never resolves. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
