import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'

/** The wall clock at the start of a world: 1 January 2026. */
const EPOCH = 1_767_225_600_000
const MAX_STEPS = 300_000
const MAX_MS = 90 * 86_400_000

const realSetImmediate = globalThis.setImmediate
const RealDate = globalThis.Date

/** Draws from a seed with the mulberry32 generator. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** Returns a number from 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** Returns a whole number in the range, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  /** Returns a duration: short ones are as likely as long ones. */
  duration(from: number, to: number): number {
    return Math.round(from * (to / from) ** this.next())
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T
  }

  /** Returns the elements that are drawn, each with this probability. */
  some<T>(list: readonly T[], probability: number): T[] {
    return list.filter(() => this.chance(probability))
  }

  uuid(): string {
    const part = (): string =>
      this.int(0, 2 ** 32 - 1)
        .toString(16)
        .padStart(8, '0')
    const hex = part() + part() + part() + part()
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-a$4-')
  }
}

interface Event {
  readonly at: number
  readonly order: number
  /** Events of one group happen in their order. The order of other events that are due at the same time is drawn. */
  readonly group: string
  readonly owner: Process | undefined
  readonly happen: () => void
  /** Whether the event keeps its process alive. */
  isRef: boolean
}

/** Thrown by the ports of a process after its death. */
export class Dead extends Error {}

/** How the work of a process ended. */
export type Ended<T> =
  | { readonly how: 'returned'; readonly value: T }
  | { readonly how: 'threw'; readonly error: unknown }
  | { readonly how: 'died' }

const current = new AsyncLocalStorage<Process>()

/** Returns the process whose code runs. */
export const currentProcess = (): Process | undefined => current.getStore()

/**
 * A simulated process. Its code reaches the world only through ports: timers, the network and the disk. It can die before and
 * after each use of a port: from then on, nothing that its code does has an effect.
 */
export class Process {
  readonly name: string
  readonly world: World
  isAlive = true
  /** The number of points so far at which the process could have died. */
  points = 0
  /** The point at which it dies. */
  diesAt = Number.POSITIVE_INFINITY
  /** Called at each point at which it could die, with its number. */
  onPoint: (point: number) => void = () => undefined
  readonly onDeath: (() => void)[] = []
  /** Until when it is stopped, as by SIGSTOP or a suspended machine: its events happen later. */
  stoppedUntil = Number.NEGATIVE_INFINITY
  /** The ledgers that calls of `awardOne` have open. The package keeps them in a global. */
  readonly ledgerFiles = new Map<string, never>()
  readonly #death = Promise.withResolvers<{ how: 'died' }>()

  constructor(world: World, name: string) {
    this.world = world
    this.name = name
  }

  /** Runs code as this process, until it ends or the process dies. */
  async run<T>(work: () => Promise<T>): Promise<Ended<T>> {
    const ended = current.run(this, work).then(
      (value) => ({ how: 'returned', value }) as const,
      (error: unknown) => ({ how: 'threw', error }) as const,
    )
    const end = await Promise.race([this.#death.promise, ended])
    return this.isAlive ? end : { how: 'died' }
  }

  /** Uses a port. @throws Dead */
  use<T>(operate: () => T): T {
    this.#point()
    const result = operate()
    this.#point()
    return result
  }

  #point(): void {
    if (this.isAlive && ++this.points >= this.diesAt) this.die()
    this.onPoint(this.points)
    if (!this.isAlive) throw new Dead('the process is dead')
  }

  die(): void {
    if (!this.isAlive) return
    this.isAlive = false
    this.world.say(`${this.name} is killed`)
    this.world.crashes++
    this.world.forget(this)
    for (const listener of this.onDeath) listener()
    this.#death.resolve({ how: 'died' })
  }
}

/** Thrown out of a world that broke an invariant. */
export class Violation extends Error {}

/** Virtual time, drawn randomness and a log. One world runs at a time, because it replaces the globals of this process. */
export class World {
  readonly seed: number
  readonly random: Random
  readonly log: string[] = []
  violation: string | undefined
  crashes = 0
  requests = 0
  messages = 0
  /** The time since the start, in milliseconds. */
  now = 0
  /** When the clock was set last. */
  clockSetAt = Number.NEGATIVE_INFINITY
  /** By how much the clock was set back, in all. */
  setBackMs = 0
  /** Texts that must not occur in errors, reports, ledgers and the log. */
  readonly secrets: string[] = []
  #wallOffset = EPOCH
  #events: Event[] = []
  #order = 0
  #steps = 0

  constructor(seed: number) {
    this.seed = seed
    this.random = new Random(seed)
  }

  get wallNow(): number {
    return Math.floor(this.now + this.#wallOffset)
  }

  /** Sets the wall clock forward, or back with a negative number. Timers do not notice. */
  stepClock(ms: number): void {
    this.#wallOffset += ms
    this.setBackMs += Math.max(0, -ms)
    this.clockSetAt = this.now
    this.say(`the clock is set by ${ms} ms`)
  }

  /** Writes an event to the log. */
  say(text: string): void {
    this.log.push(`${(this.now / 1000).toFixed(3)} ${text}`)
  }

  /** Ends the world, because an invariant is broken. */
  violate(text: string): never {
    this.violation ??= text
    this.say(`VIOLATION: ${text}`)
    throw new Violation(text)
  }

  /** @param describe - called if the invariant is broken */
  require(isKept: boolean, describe: () => string): void {
    if (!isKept) this.violate(describe())
  }

  /** Fails if a text contains a secret. */
  requireNoSecret(text: string, where: string): void {
    for (const secret of this.secrets) this.require(!text.includes(secret), () => `a secret stands in ${where}`)
  }

  /** Calls `happen` after `ms`, unless its process dies before. */
  after(ms: number, happen: () => void, owner?: Process, group = ''): Event {
    const at = this.now + Math.max(0, ms)
    const order = this.#order++
    const event = { at, order, owner, group: group || `event ${order}`, happen, isRef: false }
    if (owner?.isAlive !== false) this.#events.push(event)
    return event
  }

  cancel(event: Event): void {
    const index = this.#events.indexOf(event)
    if (index !== -1) this.#events.splice(index, 1)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** Drops the events of a process that died. */
  forget(process: Process): void {
    this.#events = this.#events.filter(({ owner }) => owner !== process)
  }

  /** Fails if a process that has ended its work has left timers that keep it alive. */
  requireNoTimers(process: Process): void {
    const left = this.#events.filter(({ owner, isRef, at }) => owner === process && isRef && at > this.now)
    this.require(
      left.length === 0,
      () =>
        `${process.name} has ended its work, and ${left.length} timers are left: ${left.map(({ group }) => group).join(', ')}`,
    )
  }

  /** Lets events happen until `main` is settled or an invariant is broken. */
  async run(main: () => Promise<void>): Promise<void> {
    const restore = this.#install()
    let isSettled = false
    const onUnhandled = (reason: unknown): void => {
      for (let error = reason; error instanceof Error; error = error.cause) if (error instanceof Dead) return
      if (!(reason instanceof Violation)) this.violation ??= `unhandled rejection: ${String(reason)}`
    }
    process.on('unhandledRejection', onUnhandled)
    try {
      main().then(
        () => {
          isSettled = true
        },
        (error: unknown) => {
          isSettled = true
          this.violation ??= error instanceof Error ? (error.stack ?? error.message) : String(error)
        },
      )
      for (;;) {
        // Microtasks run before the next turn.
        await new Promise((resolve) => realSetImmediate(resolve))
        if (isSettled || this.violation !== undefined) return
        const event = this.#next()
        if (event === undefined) this.violate('nothing is left to happen, and something still waits')
        if (++this.#steps > MAX_STEPS) this.violate(`the world does not end: ${MAX_STEPS} events`)
        if (this.now > MAX_MS) this.violate('the world does not end: 90 days')
        try {
          if (event.owner === undefined) event.happen()
          else current.run(event.owner, event.happen)
        } catch (error) {
          if (!(error instanceof Dead)) throw error
        }
      }
    } catch (error) {
      if (!(error instanceof Violation)) throw error
    } finally {
      process.off('unhandledRejection', onUnhandled)
      restore()
    }
  }

  /** Removes the next event. Draws among those that are due at the same time. */
  #next(): Event | undefined {
    const timeOf = ({ at, owner }: Event): number => Math.max(at, owner?.stoppedUntil ?? at)
    let next = Number.POSITIVE_INFINITY
    for (const event of this.#events) next = Math.min(next, timeOf(event))
    this.now = Math.max(this.now, next)
    const firstOfGroup = new Map<string, Event>()
    for (const event of this.#events) {
      if (timeOf(event) <= this.now && !firstOfGroup.has(event.group)) firstOfGroup.set(event.group, event)
    }
    const due = [...firstOfGroup.values()]
    if (due.length === 0) return undefined
    const event = due.length === 1 ? (due[0] as Event) : this.random.pick(due)
    this.cancel(event)
    return event
  }

  hash(): string {
    return createHash('sha256').update(this.log.join('\n')).digest('hex')
  }

  /** Replaces clocks, timers and randomness of this process. @returns a function that restores them */
  #install(): () => void {
    const world = this
    const start = (callback: (...args: never[]) => void, ms: number, group: string, args: never[]): Timer => {
      const owner = currentProcess()
      const event = world.after(ms, () => callback(...args), owner, `${group} of ${owner?.name ?? 'the world'}`)
      return new Timer(world, event)
    }
    class VirtualDate extends RealDate {
      constructor(...args: [] | [number]) {
        super(...((args.length === 0 ? [world.wallNow] : args) as [number]))
      }
      static override now(): number {
        return world.wallNow
      }
    }
    const stop = (timer: Timer | undefined): void => timer?.stop()
    // The package draws the prefix of its call IDs once per process, so not from the draws of the world.
    const uuids = new Random(world.seed)
    const restores = [
      replace(globalThis, {
        setTimeout: (callback: () => void, ms = 0, ...args: never[]) =>
          // Node.js rounds the delay down, and waits for at least 1 ms.
          start(callback, Math.max(1, Math.trunc(ms)), `timers after ${Math.trunc(ms)} ms`, args),
        clearTimeout: stop,
        setImmediate: (callback: () => void, ...args: never[]) => start(callback, 0, 'setImmediate', args),
        clearImmediate: stop,
        Date: VirtualDate,
      }),
      replace(performance, { now: () => world.now }),
      replace(Math, { random: () => world.random.next() }),
      replaceGetter(globalThis, LEDGER_FILES, () => currentProcess()?.ledgerFiles),
      replace(crypto, { randomUUID: () => uuids.uuid() }),
    ]
    return () => {
      for (const restore of restores) restore()
    }
  }
}

/** What `setTimeout` returns. */
class Timer {
  readonly #world: World
  readonly #event: Event

  constructor(world: World, event: Event) {
    this.#world = world
    this.#event = event
    event.isRef = true
  }

  stop(): void {
    this.#world.cancel(this.#event)
  }

  ref(): this {
    this.#event.isRef = true
    return this
  }

  unref(): this {
    this.#event.isRef = false
    return this
  }
}

const LEDGER_FILES = Symbol.for('campaign-client.ledger-files')

function replaceGetter(target: object, name: symbol, get: () => unknown): () => void {
  Object.defineProperty(target, name, { get, configurable: true })
  return () => void Reflect.deleteProperty(target, name)
}

function replace(target: object, replacements: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(replacements).map((name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const)
  for (const [name, value] of Object.entries(replacements)) {
    Object.defineProperty(target, name, { value, configurable: true, writable: true })
  }
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(target, name)
      else Object.defineProperty(target, name, descriptor)
    }
  }
}
