import { anything, type OptionRules, requireOptions } from '../shared/options.ts'

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
}

/** A clock that stands still until it is told to move. Made by {@link createManualClock}. */
export interface ManualClock extends ServiceClock {
  /**
   * Moves time forward by `ms` and runs every timer that falls due on the way, in order, each at its own time. Before
   * each step it waits for the deliveries on their way, so a retry is counted from the end of the attempt before.
   *
   * @throws TypeError when `ms` is not a finite number of at least 0.
   */
  advance(ms: number): Promise<void>
  /** Number of timers that are waiting. */
  readonly pending: number
}

/** Options of {@link createManualClock}. */
export interface ManualClockOptions {
  /** Where time starts, in milliseconds since the epoch. Default: 2026-01-01T00:00:00Z. */
  startMs?: number | undefined
  /**
   * How long `advance` waits, in real milliseconds, for deliveries on their way before it moves on without them.
   * Default: 1000. Only a receiver that never answers makes it wait that long; set it low where you test one.
   */
  patienceMs?: number | undefined
}

const MANUAL_CLOCK: OptionRules<ManualClockOptions> = { startMs: anything, patienceMs: anything }

/** The system's time, read at each call, so that a test runner's fake timers are respected. */
export const systemClock: ServiceClock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => globalThis.setTimeout(callback, delayMs),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as ReturnType<typeof setTimeout>),
}

interface Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
}

// Answers from memory need a few turns of the event loop (streams, digests), not only microtasks.
const IDLE_TURNS = 4
const nextTurn = (): Promise<void> => new Promise((resolve) => globalThis.setTimeout(resolve, 0))

/**
 * Makes a clock that moves only when told to.
 *
 * @example
 * ```ts
 * const clock = createManualClock()
 * const service = createCampaignService({ clock })
 * // … an endpoint that is down …
 * await clock.advance(395_000) // all four retries
 * ```
 * @throws TypeError when an option is unknown or not a finite number, or `patienceMs` is negative.
 */
export function createManualClock(options: ManualClockOptions = {}): ManualClock {
  requireOptions('createManualClock', options, MANUAL_CLOCK)
  const { startMs = Date.UTC(2026, 0, 1), patienceMs = 1000 } = options
  if (!Number.isFinite(startMs)) throw new TypeError('startMs must be a finite number of milliseconds')
  if (!Number.isFinite(patienceMs) || patienceMs < 0) throw new TypeError('patienceMs must be at least 0 milliseconds')

  let now = startMs
  let order = 0
  const timers = new Set<Timer>()
  const work = new Set<Promise<unknown>>()

  const next = (until: number): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) {
      if (timer.at > until) continue
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    }
    return first
  }

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < IDLE_TURNS; turn++) await nextTurn()
    if (work.size === 0) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const patience = new Promise<void>((resolve) => {
      timer = globalThis.setTimeout(resolve, patienceMs)
    })
    const done = (async () => {
      while (work.size > 0) {
        await Promise.all(work)
        await nextTurn()
      }
    })()
    await Promise.race([done, patience])
    globalThis.clearTimeout(timer)
  }

  return {
    now: () => now,
    setTimeout(callback, delayMs) {
      const timer: Timer = { at: now + Math.max(0, delayMs), order: order++, callback }
      timers.add(timer)
      return timer
    },
    clearTimeout(handle) {
      timers.delete(handle as Timer)
    },
    track(promise) {
      const tracked: Promise<unknown> = promise.then(
        () => work.delete(tracked),
        () => work.delete(tracked),
      )
      work.add(tracked)
    },
    get pending() {
      return timers.size
    },
    async advance(ms) {
      if (!Number.isFinite(ms) || ms < 0) throw new TypeError('advance takes a number of milliseconds of at least 0')
      const until = now + ms
      for (;;) {
        await settle()
        const timer = next(until)
        if (!timer) break
        timers.delete(timer)
        now = Math.max(now, timer.at)
        timer.callback()
      }
      now = Math.max(now, until)
    },
  }
}
