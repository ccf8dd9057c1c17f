import {
  issuesAt,
  mustBeBoolean,
  mustHaveMethods,
  nonNegativeMilliseconds,
  type OptionRule,
  type OptionRules,
  optional,
  readOptions,
  refuseOptions,
  within,
} from '../errors/option-checks.ts'
import { keepProcessAlive, MAX_TIMER_MS, withTimeout } from '../shared/timers.ts'
import { isError } from '../shared/type-checks.ts'

/**
 * The clock of the local service. The default is the system's clock. With {@link createManualClock}, a test moves
 * the time itself, for example past five minutes of retries.
 */
export interface ServiceClock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls back once, after `delayMs`. The handle is passed to `clearTimeout`. Its `unref` is called, if any. */
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
 * Resolves after `ms` on the clock. Rejects with the reason of the signal when the signal aborts. If an attempt times out while it
 * waits for a manual clock, the reason gets a cause that says so, for the error of the client.
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

/** A clock that a test moves. Between two moves the time does not change, unless the clock is `running`. */
export interface ManualClock extends ServiceClock {
  /**
   * Moves the time forward by `ms` and runs every timer that becomes due, in order, each at its own time. Before each
   * step it waits for running deliveries, so that the delay of a retry counts from the end of the previous attempt.
   *
   * Calls are queued: each one starts where the previous one ended.
   *
   * Rejects with `ConfigurationError` when `ms` is not a finite number of at least 0, or the time would exceed
   * the last time of a `Date`.
   */
  advance(ms: number): Promise<void>
  /**
   * Moves the time forward to `timeMs`, in milliseconds since the epoch, in the same way as `advance`. A time in the past
   * changes nothing. `clock.advanceTo(service.nextRetryAt)` moves to the next retry of a delivery.
   *
   * Rejects with `ConfigurationError` when `timeMs` is not a valid time of a `Date`.
   */
  advanceTo(timeMs: number): Promise<void>
  /**
   * Undoes every `advance` and `advanceTo`. A running clock then shows `startMs` plus the time since it was created. Timers
   * keep their remaining delay. An `advance` in progress ends at its next step. Queued calls still run. `service.reset` calls
   * this method.
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
   * Whether time also passes by itself, at the system's speed: for interactive use.
   *
   * @defaultValue false
   */
  running?: boolean | undefined
  /**
   * How long `advance` waits for running deliveries, in milliseconds of real time. Set it low in tests of a receiver that
   * never responds.
   *
   * @defaultValue 1000
   */
  patienceMs?: number | undefined
}

/** The last time that a `Date` can represent. The first is its negative. */
const MAX_TIME_MS = 8.64e15
const mustBeTime = within('milliseconds', -MAX_TIME_MS, MAX_TIME_MS)

const MANUAL_CLOCK: OptionRules<ManualClockOptions> = {
  startMs: optional(mustBeTime),
  running: optional(mustBeBoolean),
  patienceMs: optional(nonNegativeMilliseconds),
}

interface Timer {
  at: number
  readonly callback: () => void
  /** The system timer that runs this timer; only on a running clock. */
  systemTimer: ReturnType<typeof setTimeout> | undefined
  keepsProcessAlive: boolean
  /** Like `unref` of Node's timers. */
  unref(): void
}

// A delivery in memory takes a few turns of the event loop, because of streams and digests.
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
 * @throws ConfigurationError when an option is wrong or misspelt
 */
export function createManualClock(options: ManualClockOptions = {}): ManualClock {
  const { running = false, patienceMs = 1000, ...start } = readOptions('createManualClock', options, MANUAL_CLOCK)
  const { startMs = running ? Date.now() : Date.UTC(2026, 0, 1) } = start

  // Monotonic: the system's time of day may be set back.
  const startedAt = performance.now()
  let movedMs = 0
  let resets = 0
  const now = (): number =>
    Math.min(MAX_TIME_MS, startMs + movedMs + (running ? Math.floor(performance.now() - startedAt) : 0))

  const timers = new Set<Timer>()
  const work = new Set<Promise<unknown>>()
  const listeners = new Set<() => void>()

  /** Returns the first timer that is due by `time`; of two timers with the same time, the older timer. */
  const nextDue = (time: number): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) if (timer.at <= time && timer.at < (first?.at ?? Infinity)) first = timer
    return first
  }
  const remove = (timer: Timer): void => {
    if (timers.delete(timer)) globalThis.clearTimeout(timer.systemTimer)
  }
  const run = (timer: Timer): void => {
    remove(timer)
    timer.callback()
  }
  const schedule = (timer: Timer): void => {
    if (!running) return
    globalThis.clearTimeout(timer.systemTimer)
    const delayMs = Math.min(Math.max(0, timer.at - now()), MAX_TIMER_MS)
    timer.systemTimer = globalThis.setTimeout(() => {
      for (let due = nextDue(now()); due; due = nextDue(now())) run(due)
      // Not due yet: the system timer fired early, or its delay was limited to MAX_TIMER_MS.
      if (timers.has(timer)) schedule(timer)
    }, delayMs)
    keepProcessAlive(timer.systemTimer, timer.keepsProcessAlive)
  }

  const notifyListeners = (): void => {
    for (const listener of [...listeners]) listener()
  }
  const moveTo = (time: number): void => {
    const ms = time - now()
    if (ms <= 0) return
    movedMs += ms
    notifyListeners()
  }

  const untilIdle = async (): Promise<void> => {
    while (work.size > 0) {
      await Promise.all(work)
      await nextTurn()
    }
  }
  const waitForWork = async (): Promise<void> => {
    for (let turn = 0; turn < IDLE_TURNS; turn++) await nextTurn()
    await withTimeout(untilIdle(), patienceMs)
  }

  const advanceTo = async (until: number): Promise<void> => {
    const before = resets
    for (;;) {
      await waitForWork()
      if (resets !== before) return
      const timer = nextDue(until)
      if (!timer) break
      moveTo(timer.at)
      run(timer)
    }
    moveTo(until)
    for (const timer of timers) schedule(timer)
  }

  let lastMove: Promise<unknown> = Promise.resolve()
  /** Queues moves: two concurrent moves would start from the same time, and the shorter move would be lost. */
  const enqueue = (move: () => Promise<void>): Promise<void> => {
    const moved = lastMove.then(move)
    lastMove = moved.catch(() => {})
    return moved
  }

  return {
    now,
    setTimeout(callback, delayMs) {
      const timer: Timer = {
        at: now() + Math.max(0, delayMs),
        callback,
        systemTimer: undefined,
        keepsProcessAlive: true,
        unref() {
          timer.keepsProcessAlive = false
          keepProcessAlive(timer.systemTimer, false)
        },
      }
      timers.add(timer)
      schedule(timer)
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
      for (const timer of timers) schedule(timer)
      notifyListeners()
    },
    track(promise) {
      const forget = (): unknown => work.delete(tracked)
      const tracked = promise.then(forget, forget)
      work.add(tracked)
    },
    get pending() {
      return timers.size
    },
    onMove(callback) {
      const listener = () => callback()
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    advance: (ms) =>
      enqueue(async () => {
        refuseOptions('advance', issuesAt('ms', within('milliseconds', 0, MAX_TIME_MS - now())(ms)))
        await advanceTo(now() + ms)
      }),
    advanceTo: (timeMs) =>
      enqueue(async () => {
        refuseOptions('advanceTo', issuesAt('timeMs', mustBeTime(timeMs)))
        await advanceTo(timeMs)
      }),
  }
}
