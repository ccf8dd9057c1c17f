import {
  isBoolean,
  nonNegativeMilliseconds,
  type OptionRules,
  optional,
  readOptions,
  requireOptions,
  within,
} from '../shared/options.ts'
import { Alarm } from './alarm.ts'
import type { ServiceClock } from './clock.ts'

/** A clock that is moved by hand, and stands still until then unless it is `running`. Made by {@link createManualClock}. */
export interface ManualClock extends ServiceClock {
  /**
   * Moves time forward by `ms` and runs every timer that falls due on the way, in order, each at its own time. Before
   * each step it waits for the deliveries on their way, so a retry is counted from the end of the attempt before.
   *
   * Calls add up: one that is made while another is under way begins where that one ends. Each resolves at its own time.
   *
   * Rejects with `TypeError` or `RangeError` when `ms` is not a finite number of at least 0, or leads to a time that no
   * `Date` can hold.
   */
  advance(ms: number): Promise<void>
  /**
   * Moves time forward to `timeMs`, in milliseconds since the epoch, as `advance` does and after the calls that are under
   * way; a time that has passed moves nothing. With `service.nextRetryAt` it goes to the next retry of a delivery.
   *
   * Rejects with `TypeError` or `RangeError` when `timeMs` is not a time that a `Date` can hold.
   */
  advanceTo(timeMs: number): Promise<void>
  /** Number of timers that are waiting. */
  readonly pending: number
}

/** Options of {@link createManualClock}. */
export interface ManualClockOptions {
  /**
   * Where time starts, in milliseconds since the epoch. Default: 2026-01-01T00:00:00Z, or now for one that is running.
   */
  startMs?: number | undefined
  /**
   * Whether time also passes by itself, as fast as the system's: for a service that people try things out with.
   * Default: false.
   */
  running?: boolean | undefined
  /**
   * How long `advance` waits, in real milliseconds, for deliveries on their way before it moves on without them.
   * Default: 1000. Only a receiver that never answers makes it wait that long; set it low where you test one.
   */
  patienceMs?: number | undefined
}

/** The last time that a `Date` can hold, and with a minus the first. */
const LATEST_MS = 8.64e15
const instant = within('milliseconds', -LATEST_MS, LATEST_MS)

const MANUAL_CLOCK: OptionRules<ManualClockOptions> = {
  startMs: optional(instant),
  running: optional(isBoolean),
  patienceMs: optional(nonNegativeMilliseconds),
}

interface Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
  holdsProcess: boolean
  /** As the timers of Node have it. */
  unref(): void
}

// Answers from memory need a few turns of the event loop (streams, digests), not only microtasks.
const IDLE_TURNS = 4
const nextTurn = (): Promise<void> => new Promise((resolve) => globalThis.setTimeout(resolve, 0))

/**
 * Makes a clock that moves when told to.
 *
 * @example
 * ```ts
 * const clock = createManualClock()
 * const service = createCampaignService({ clock })
 * // … an endpoint that is down …
 * await clock.advance(395_000) // all four retries
 * ```
 * @throws TypeError when an option is unknown or of the wrong type
 * @throws RangeError when `startMs` is not a time that a `Date` can hold, or `patienceMs` is negative or not finite
 */
export function createManualClock(options: ManualClockOptions = {}): ManualClock {
  const { running = false, patienceMs = 1000, ...own } = readOptions('createManualClock', options, MANUAL_CLOCK)
  const { startMs = running ? Date.now() : Date.UTC(2026, 0, 1) } = own

  // Not the system's time of day, which may be set back.
  const startedAt = performance.now()
  let movedMs = 0
  const now = (): number =>
    Math.min(LATEST_MS, startMs + movedMs + (running ? Math.floor(performance.now() - startedAt) : 0))

  let order = 0
  let holding = 0
  const timers = new Set<Timer>()
  const work = new Set<Promise<unknown>>()
  const listeners = new Set<{ readonly moved: () => void }>()

  const next = (until: number): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) {
      if (timer.at > until) continue
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    }
    return first
  }

  const release = (timer: Timer): void => {
    if (timer.holdsProcess) holding--
    timer.holdsProcess = false
    alarm.holdProcess(holding > 0)
  }
  const remove = (timer: Timer): void => {
    if (timers.delete(timer)) release(timer)
  }
  const run = (timer: Timer): void => {
    remove(timer)
    timer.callback()
  }

  const alarm = new Alarm(() => {
    for (let due = next(now()); due; due = next(now())) run(due)
    setAlarm(next(Infinity))
  })
  const setAlarm = (timer: Timer | undefined): void => {
    if (running && timer) alarm.set(timer.at, now())
  }

  const moveTo = (time: number): void => {
    const ms = time - now()
    if (ms <= 0) return
    movedMs += ms
    for (const { moved } of [...listeners]) moved()
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

  let underWay: Promise<unknown> = Promise.resolve()
  /** One after the other: two that moved time together would count from one moment, and lose what the shorter one asks. */
  const inTurn = (move: () => Promise<void>): Promise<void> => {
    const moved = underWay.then(move)
    underWay = moved.catch(() => {})
    return moved
  }

  const advanceTo = async (until: number): Promise<void> => {
    for (;;) {
      await settle()
      const timer = next(until)
      if (!timer) break
      moveTo(timer.at)
      run(timer)
    }
    moveTo(until)
    // What is left has come nearer.
    alarm.clear()
    setAlarm(next(Infinity))
  }

  return {
    now,
    setTimeout(callback, delayMs) {
      const timer: Timer = {
        at: now() + Math.max(0, delayMs),
        order: order++,
        callback,
        holdsProcess: true,
        unref: () => release(timer),
      }
      timers.add(timer)
      holding++
      setAlarm(timer)
      alarm.holdProcess(true)
      return timer
    },
    clearTimeout(handle) {
      remove(handle as Timer)
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
    onMove(moved) {
      const listener = { moved }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    advance: (ms) =>
      inTurn(async () => {
        requireOptions('advance', { ms }, { ms: within('milliseconds', 0, LATEST_MS - now()) })
        await advanceTo(now() + ms)
      }),
    advanceTo: (timeMs) =>
      inTurn(async () => {
        requireOptions('advanceTo', { timeMs }, { timeMs: instant })
        await advanceTo(timeMs)
      }),
  }
}
