import {
  isBoolean,
  nonNegativeMilliseconds,
  type OptionRules,
  optional,
  readOptions,
  requireOptions,
  within,
} from '../../shared/options.ts'
import { Alarm } from './alarm.ts'
import type { ServiceClock } from './service-clock.ts'

/** A clock that tests advance. It stands still in between, unless it is `running`. Made by {@link createManualClock}. */
export interface ManualClock extends ServiceClock {
  /**
   * Moves time forward by `ms` and runs every timer that becomes due, in order, each at its own time. Before each step it
   * waits for deliveries that are under way, so that the delay of a retry counts from the end of the attempt before it.
   *
   * Calls queue: a call that is made while another is under way starts where that one ends.
   *
   * Rejects with `TypeError` or `RangeError` when `ms` is not a finite number of at least 0, or the time would exceed
   * the last time of a `Date`.
   */
  advance(ms: number): Promise<void>
  /**
   * Moves time forward to `timeMs`, in milliseconds since the epoch, in the same way as `advance`. A time in the past
   * changes nothing. `clock.advanceTo(service.nextRetryAt)` moves to the next retry of a delivery.
   *
   * Rejects with `TypeError` or `RangeError` when `timeMs` is not a time that a `Date` can hold.
   */
  advanceTo(timeMs: number): Promise<void>
  /**
   * Takes the time back to its start; a running clock goes back to the system's time. Timers keep the delay that they
   * have left. Calls of `advance` and `advanceTo` that are under way end where they are. `service.reset` calls it.
   */
  reset(): void
  /** Number of waiting timers. */
  readonly pending: number
}

/** Options of {@link createManualClock}. */
export interface ManualClockOptions {
  /**
   * Start time, in milliseconds since the epoch.
   *
   * @defaultValue 2026-01-01T00:00:00Z; for a running clock the system's time
   */
  startMs?: number | undefined
  /**
   * Whether time also passes by itself, at the system's speed: for a service that people try out by hand.
   *
   * @defaultValue false
   */
  running?: boolean | undefined
  /**
   * How long `advance` waits for deliveries that are under way, in milliseconds of real time, before it moves on.
   * Set it low in tests of a receiver that never answers.
   *
   * @defaultValue 1000
   */
  patienceMs?: number | undefined
}

/** The last time that a `Date` can hold. The first is its negative. */
const MAX_TIME_MS = 8.64e15
const instant = within('milliseconds', -MAX_TIME_MS, MAX_TIME_MS)

const MANUAL_CLOCK: OptionRules<ManualClockOptions> = {
  startMs: optional(instant),
  running: optional(isBoolean),
  patienceMs: optional(nonNegativeMilliseconds),
}

interface Timer {
  at: number
  readonly order: number
  readonly callback: () => void
  holdsProcess: boolean
  /** Like the timers of Node. */
  unref(): void
}

// An answer from memory takes a few turns of the event loop: streams and digests need more than microtasks.
const IDLE_TURNS = 4
const nextTurn = (): Promise<void> => new Promise((resolve) => globalThis.setTimeout(resolve, 0))

/**
 * Creates a clock that moves when `advance` or `advanceTo` is called.
 *
 * @example
 * ```ts
 * const clock = createManualClock()
 * const service = createCampaignService({ clock })
 * await clock.advance(395_000) // all four retries
 * ```
 * @throws TypeError when an option is unknown or of the wrong type
 * @throws RangeError when `startMs` is not a time that a `Date` can hold, or `patienceMs` is negative or not finite
 */
export function createManualClock(options: ManualClockOptions = {}): ManualClock {
  const { running = false, patienceMs = 1000, ...own } = readOptions('createManualClock', options, MANUAL_CLOCK)
  const { startMs = running ? Date.now() : Date.UTC(2026, 0, 1) } = own

  // Monotonic: the system's time of day may be set back.
  const startedAt = performance.now()
  let movedMs = 0
  let resets = 0
  const now = (): number =>
    Math.min(MAX_TIME_MS, startMs + movedMs + (running ? Math.floor(performance.now() - startedAt) : 0))

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

  const tellMoved = (): void => {
    for (const { moved } of [...listeners]) moved()
  }
  const moveTo = (time: number): void => {
    const ms = time - now()
    if (ms <= 0) return
    movedMs += ms
    tellMoved()
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
  /** Queues moves: two at once would start from the same moment, and the shorter one would be lost. */
  const inTurn = (move: () => Promise<void>): Promise<void> => {
    const moved = underWay.then(move)
    underWay = moved.catch(() => {})
    return moved
  }

  const advanceTo = async (until: number): Promise<void> => {
    const before = resets
    for (;;) {
      await settle()
      if (resets !== before) return
      const timer = next(until)
      if (!timer) break
      moveTo(timer.at)
      run(timer)
    }
    moveTo(until)
    resetAlarm()
  }
  /** Sets the alarm anew after the time has moved. */
  const resetAlarm = (): void => {
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
    reset() {
      resets++
      if (movedMs === 0) return
      for (const timer of timers) timer.at -= movedMs
      movedMs = 0
      resetAlarm()
      tellMoved()
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
        requireOptions('advance', { ms }, { ms: within('milliseconds', 0, MAX_TIME_MS - now()) })
        await advanceTo(now() + ms)
      }),
    advanceTo: (timeMs) =>
      inTurn(async () => {
        requireOptions('advanceTo', { timeMs }, { timeMs: instant })
        await advanceTo(timeMs)
      }),
  }
}
