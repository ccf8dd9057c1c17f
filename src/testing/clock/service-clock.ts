import { hasMethods, type OptionRule } from '../../shared/options.ts'

/**
 * The clock of the local service. The default is the system's. With {@link createManualClock} a test decides when five
 * minutes of retries pass.
 */
export interface ServiceClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once, `delayMs` from now. The returned handle is only passed to `clearTimeout`. */
  setTimeout(callback: () => void, delayMs: number): unknown
  /** Cancels a timer. A handle that has fired or is unknown is ignored. */
  clearTimeout(handle: unknown): void
  /** Receives work that takes real time, such as a delivery, so that a manual clock can wait for it. */
  track?(work: Promise<unknown>): void
  /** Calls back whenever the time is moved by hand. Returns a function that ends this. */
  onMove?(listener: () => void): () => void
  /** Takes the time back to where it started. `service.reset` calls it. */
  reset?(): void
}

/** The required methods. The others are for clocks that are moved by hand. */
export const isClock: OptionRule = hasMethods('now', 'setTimeout', 'clearTimeout')

/** The system's clock. Globals are read at each call, so that fake timers of a test runner work. */
export const systemClock: ServiceClock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => globalThis.setTimeout(callback, delayMs),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof setTimeout>),
}
