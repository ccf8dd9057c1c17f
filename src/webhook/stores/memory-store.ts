import { mustBeFunction, type OptionRules, optional, readOptions, wholeNumber } from '../../errors/option-checks.ts'
import {
  type ClaimResult,
  type DeliveryStore,
  requireKey,
  requireLease,
  requireMilliseconds,
} from './delivery-store.ts'

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * Maximum number of records, claimed and done together; a whole number from 1.
   *
   * @defaultValue 100 000 (about 25 MB)
   */
  maxEntries?: number | undefined
  /**
   * The clock, in milliseconds from any origin; it must not run backwards.
   *
   * @defaultValue `performance.now`
   */
  now?: (() => number) | undefined
}

const rules = (): OptionRules<MemoryStoreOptions> => ({
  maxEntries: optional(wholeNumber(1)),
  now: optional(mustBeFunction),
})

interface Entry {
  readonly state: 'claimed' | 'done'
  readonly token: string
  expiresAt: number
}

/**
 * Creates a delivery store in memory, which is the default of a receiver. It recognises duplicates that reach the same process
 * or isolate, and is empty after a restart. Use it in tests. In production, use `sqliteStore` on one machine, `postgresStore`
 * or `redisStore` on several.
 *
 * At `maxEntries`, the store removes the deliveries that were completed first, and expired claims. A message whose record
 * was removed is handled again when it is sent again. Current claims are never removed. When all entries are current
 * claims, `claim` rejects, and the receiver responds with 503, so that the service retries.
 *
 * See "Delivery and retries" in docs/the-service.md.
 *
 * @returns a store whose methods reject with `TypeError` for an empty key, or a lease or retention that is not a positive
 *   number of milliseconds
 * @throws ConfigurationError when an option is wrong or misspelt
 *
 * @example
 * ```ts
 * const store = memoryStore({ maxEntries: 10_000 })
 * const receiver = createWebhookReceiver({ endpoint: 'orders', secret, store, handle })
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): DeliveryStore {
  const { maxEntries = 100_000, now = () => performance.now() } = readOptions('memoryStore', options, rules())
  /** Oldest first. */
  const entries = new Map<string, Entry>()

  function evictIfFull(time: number): void {
    if (entries.size < maxEntries) return
    // Removes 1 % more than needed, because each iteration of a Map first skips the slots of deleted entries.
    let excess = entries.size - maxEntries + 1 + Math.floor(maxEntries / 100)
    for (const [key, entry] of entries) {
      if (entry.state === 'claimed' && entry.expiresAt > time) continue
      entries.delete(key)
      excess -= 1
      if (excess === 0) return
    }
    if (entries.size < maxEntries) return
    throw new Error(`memoryStore: all ${maxEntries} entries are deliveries being handled. Raise maxEntries.`)
  }

  /** Writes an entry as the newest. */
  function write(key: string, time: number, entry: Entry): void {
    entries.delete(key)
    evictIfFull(time)
    entries.set(key, entry)
  }

  return {
    async claim(key, leaseMs): Promise<ClaimResult> {
      const time = now()
      const entry = entries.get(requireKey(key))
      const expiresAt = time + requireLease(leaseMs)
      if (entry !== undefined && entry.expiresAt > time) {
        return entry.state === 'done' ? { state: 'done' } : { state: 'busy', retryMs: entry.expiresAt - time }
      }
      const token = crypto.randomUUID()
      write(key, time, { state: 'claimed', token, expiresAt })
      return { state: 'claimed', token }
    },

    async extend(key, token, leaseMs) {
      const time = now()
      const entry = entries.get(requireKey(key))
      const expiresAt = time + requireLease(leaseMs)
      if (entry?.state !== 'claimed' || entry.token !== token || entry.expiresAt <= time) return false
      entry.expiresAt = expiresAt
      return true
    },

    async complete(key, token, retainMs) {
      const time = now()
      const entry = entries.get(requireKey(key))
      const expiresAt = time + requireMilliseconds('retainMs', retainMs)
      if (entry !== undefined && entry.token !== token && entry.expiresAt > time) return false
      write(key, time, { state: 'done', token, expiresAt })
      return true
    },

    async release(key, token) {
      const entry = entries.get(requireKey(key))
      if (entry?.state === 'claimed' && entry.token === token) entries.delete(key)
    },
  }
}
