import { isFunction, type OptionRules, optional, requireOptions, wholeNumber } from '../../shared/options.ts'
import { requireKey, requireMilliseconds } from './arguments.ts'
import type { ClaimResult, DeliveryStore } from './store.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** How many deliveries are remembered at most, held and finished together. Default 100 000 (some 25 MB). */
  maxEntries?: number | undefined
  /** The clock, in milliseconds from any origin; it must not run backwards. Default `performance.now()`. */
  now?: (() => number) | undefined
}

const rules = (): OptionRules<MemoryStoreOptions> => ({
  maxEntries: optional(wholeNumber(1)),
  now: optional(isFunction),
})

interface Held {
  token: string
  until: number
}

/**
 * A delivery store in the memory of one process: the default of a receiver.
 *
 * It protects against duplicates that reach this process. It is forgotten on restart, and a second process, machine or
 * isolate has its own: with more than one of them use `redisStore` or `postgresStore`.
 *
 * When `maxEntries` is reached, what is past its time leaves first, then the deliveries that were finished longest
 * ago; those can be handled again when they are sent again. A claim that is held never leaves: when all of them are
 * held, `claim` rejects, and the receiver answers 503 so that the service tries again.
 *
 * @returns a store whose methods reject as those of the other stores do: with `TypeError` for an empty key, or a lease or
 *   retention that is not a positive number of milliseconds
 * @throws TypeError when an option is misspelt or of the wrong type
 * @throws RangeError when `maxEntries` is a number, but not a whole one from 1
 *
 * Interface: [Delivery and retries](../../../docs/the-service.md#delivery-and-retries).
 */
export function memoryStore(options: MemoryStoreOptions = {}): DeliveryStore {
  requireOptions('memoryStore', options, rules())
  const { maxEntries = 100_000, now = () => performance.now() } = options

  // The tokens of this store: a UUID for each claim would be a tenth of its time.
  const id = crypto.randomUUID()
  let claims = 0

  const held = new Map<string, Held>()
  /** In the order of completion. */
  const finished = new Map<string, Held>()
  let inOrder = finished.entries()
  let oldest: readonly [key: string, entry: Held] | undefined

  /**
   * What was finished longest ago. One iterator goes through the map, behind the deletions: a new one each time would have
   * to pass over all that was deleted since the map last tidied up, thousands of places in a full store.
   */
  function longestFinished(): readonly [key: string, entry: Held] | undefined {
    if (oldest !== undefined && finished.get(oldest[0]) === oldest[1]) return oldest
    oldest = inOrder.next().value
    // At its end an iterator stays there.
    // Stryker disable next-line ConditionalExpression: a new one each time finds the same, at the cost told of above
    if (oldest === undefined) inOrder = finished.entries()
    return oldest
  }

  function makeRoom(time: number): void {
    // Stryker disable next-line ConditionalExpression,EqualityOperator: before there is a need for it, only the memory tells
    for (let first = longestFinished(); first !== undefined && first[1].until <= time; first = longestFinished()) {
      finished.delete(first[0])
    }
    // Stryker disable next-line ConditionalExpression: where there is room already, this spares the way to the same end
    if (held.size + finished.size < maxEntries) return
    for (const [key, entry] of held) if (entry.until <= time) held.delete(key)
    for (let first = longestFinished(); first !== undefined; first = longestFinished()) {
      if (held.size + finished.size < maxEntries) return
      finished.delete(first[0])
    }
    if (held.size >= maxEntries) {
      throw new Error(`memoryStore: all ${maxEntries} entries are deliveries being handled. Raise maxEntries.`)
    }
  }

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      requireKey(key)
      const lease = requireMilliseconds('leaseMs', leaseMs)
      const time = now()
      const done = finished.get(key)
      if (done !== undefined) {
        if (done.until > time) return { state: 'done' }
        finished.delete(key)
      }
      const holder = held.get(key)
      if (holder !== undefined && holder.until > time) return { state: 'busy', retryMs: holder.until - time }
      makeRoom(time)
      // Stryker disable next-line AssignmentOperator: counted backwards, no two are the same either
      claims += 1
      const token = `${id}-${claims}`
      held.set(key, { token, until: time + lease })
      return { state: 'claimed', token }
    },

    async extend(key, token, leaseMs) {
      requireKey(key)
      const lease = requireMilliseconds('leaseMs', leaseMs)
      const time = now()
      const holder = held.get(key)
      if (holder === undefined || holder.token !== token || holder.until <= time) return false
      holder.until = time + lease
      return true
    },

    async complete(key, token, retainMs) {
      requireKey(key)
      const retention = requireMilliseconds('retainMs', retainMs)
      const time = now()
      const done = finished.get(key)
      if (done !== undefined && done.until > time) return done.token === token
      const holder = held.get(key)
      if (holder !== undefined && holder.token !== token && holder.until > time) return false
      held.delete(key)
      finished.delete(key)
      makeRoom(time)
      finished.set(key, { token, until: time + retention })
      return true
    },

    async release(key, token) {
      requireKey(key)
      if (held.get(key)?.token === token) held.delete(key)
    },
  }
}
