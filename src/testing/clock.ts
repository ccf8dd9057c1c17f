import { hasMethods, type OptionRule } from '../shared/options.ts'

/**
 * The time the service in a box lives in. The default is the system's own; hand in {@link createManualClock} and five
 * minutes of retries pass when you say so.
 */
export interface ServiceClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once, `delayMs` from now. The returned handle is only ever passed to `clearTimeout`. */
  setTimeout(callback: () => void, delayMs: number): unknown
  /** Forgets a timer. An unknown, fired or already forgotten one is ignored. */
  clearTimeout(handle: unknown): void
  /** Told of work that runs in real time (a delivery on its way), so that a manual clock can wait for it. */
  track?(work: Promise<unknown>): void
  /** Calls back whenever the time was moved by hand. The returned function ends that. */
  onMove?(listener: () => void): () => void
}

/** What a clock must be able to do; `track` and `onMove` are for those that are moved by hand. */
export const isClock: OptionRule = hasMethods('now', 'setTimeout', 'clearTimeout')

/** The system's time, read at each call, so that a test runner's fake timers are respected. */
export const systemClock: ServiceClock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => globalThis.setTimeout(callback, delayMs),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof setTimeout>),
}
