import { mustHaveMethods, type OptionRule } from '../../errors/option-checks.ts'
import { isError } from '../../shared/type-checks.ts'

/**
 * The clock of the local service. The default is the system's clock. With {@link createManualClock}, a test moves
 * the time itself, for example past five minutes of retries.
 */
export interface ServiceClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once, after `delayMs`. The returned handle is only passed to `clearTimeout`. */
  setTimeout(callback: () => void, delayMs: number): unknown
  /** Cancels a timer. Ignores an unknown handle, or a timer that has fired. */
  clearTimeout(handle: unknown): void
  /** Registers work that takes real time, for example a delivery. A manual clock waits for it. */
  track?(work: Promise<unknown>): void
  /** Calls back whenever a manual clock is moved. Returns a function that removes the listener. */
  onMove?(listener: () => void): () => void
  /** Sets the time back to the start. `service.reset` calls it. */
  reset?(): void
}

/** The rule of the `clock` option. Only manual clocks have the other methods. */
export const mustBeClock: OptionRule = mustHaveMethods('now', 'setTimeout', 'clearTimeout')

/** The system's clock. It reads the globals at each call, so that a test runner's fake timers work. */
export const systemClock: ServiceClock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => globalThis.setTimeout(callback, delayMs),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof setTimeout>),
}

/**
 * Resolves after `ms` on the clock. Rejects with the reason of the signal when the signal aborts. If the time of the attempt
 * ran out while the service waited for its own clock, the reason gets a cause that says so, for the error of the client.
 */
export function abortableDelay(clock: ServiceClock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clock.clearTimeout(timer)
      if (clock !== systemClock && isTimeout(signal.reason)) signal.reason.cause ??= new Error(ownClockWaits(ms))
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

const isTimeout = (reason: unknown): reason is Error => isError(reason) && reason.name === 'TimeoutError'

const ownClockWaits = (ms: number): string =>
  `a fault of the local service waits ${ms} ms on the service's clock, not on the system's; a manual clock must be moved, for ` +
  `example with clock.advance(${ms})`

/** Rejects with the reason of the signal when the signal aborts. Never resolves. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
  })
