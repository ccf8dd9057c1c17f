import { ConfigurationError } from '../../errors/client-errors.ts'
import { refuseOptions } from '../../errors/read-options.ts'
import { MAX_CLAIM_MS } from '../../shared/delivery-schedule.ts'
import { issuesAt, type OptionRule, positive, wholeNumber } from '../../shared/option-checks.ts'

/**
 * The result of a claim.
 *
 * - `claimed`: the caller has the delivery until the lease expires. Each claim has a new `token`.
 * - `done`: the delivery was completed, and its record has not expired.
 * - `busy`: another claim has the delivery, for `retryMs` milliseconds unless it is extended.
 */
export type ClaimResult = { state: 'claimed'; token: string } | { state: 'done' } | { state: 'busy'; retryMs: number }

/**
 * Records which deliveries are being handled and which are done. One record per key:
 *
 * ```text
 *            claim              complete
 *   absent ────────▶ claimed ──────────────▶ done ──(retainMs)──▶ absent
 *      ▲               │  ▲ extend
 *      └───────────────┘──┘
 *        release, or the lease expires
 * ```
 *
 * Rules for your own store:
 *
 * - Every method is atomic. Of any number of concurrent claims of one key, from any process, at most one is `claimed`.
 * - The store uses its own clock (`now()` of the database, the expiry of the server), never the clock of the caller.
 *   Receivers on machines with different clocks must agree on when a lease expires.
 * - A write with the token of an earlier claim changes nothing. So a process that continues after a pause or a lost
 *   connection does no harm.
 * - A rejected promise means "not done, or unknown": the receiver treats the store as down. A promise that resolves to
 *   another type (`undefined` instead of `true`) counts as rejected, and `onError` is called.
 *
 * A claim may succeed after the receiver has stopped waiting for it. The receiver then releases it, or its lease expires.
 *
 * Keys are text of at most 512 characters (1 536 bytes as UTF-8), without NUL, line breaks or lone surrogates.
 *
 * See "Delivery and retries" in docs/the-service.md. A message is delivered up to five times, and
 * several endpoints get the same message, so a key contains the endpoint and the id.
 */
export interface DeliveryStore {
  /**
   * Claims the delivery for `leaseMs` milliseconds, unless it is done or claimed. Replaces an expired claim.
   *
   * @param key - the endpoint and the id of the message, as one string
   * @param leaseMs - the lease, in milliseconds; positive, at most 295 000
   * @returns the result; `busy` even for the owner of the claim. The stores of this package reject with `ConfigurationError` for a
   *   longer lease
   */
  claim(key: string, leaseMs: number): Promise<ClaimResult>

  /**
   * Extends the claim to `leaseMs` milliseconds from now.
   *
   * @returns whether the claim was extended. `false`, without a change, when the claim has expired (even if no
   * other claim replaced it), was released, or is done.
   */
  extend(key: string, token: string, leaseMs: number): Promise<boolean>

  /**
   * Ends the claim, and records the delivery as done for `retainMs` milliseconds.
   *
   * When the claim has expired or was released, and no other claim exists, the store records the delivery if it can: the
   * handler has succeeded, and must not run again. A store that cannot know about other claims returns `false`.
   *
   * @returns whether the delivery is recorded as done with this token. A second call with the same token returns `true`
   * again, because the receiver retries a call whose response was lost. `false`, without a change, when another claim has
   * the delivery or completed it.
   */
  complete(key: string, token: string, retainMs: number): Promise<boolean>

  /**
   * Ends the claim, so that the next attempt can claim the delivery at once. Does nothing when the token belongs to no
   * current claim.
   */
  release(key: string, token: string): Promise<void>
}

/**
 * Checks the key of a delivery and returns it.
 *
 * @throws TypeError when the key is empty, or contains NUL or a lone surrogate
 */
export function requireKey(key: string): string {
  if (typeof key !== 'string' || key === '') {
    throw new TypeError(`the key of a delivery must be a non-empty string, got ${key === '' ? "''" : typeof key}`)
  }
  // A lone surrogate becomes U+FFFD in UTF-8, so two different keys could become equal. PostgreSQL refuses NUL in text.
  if (key.includes('\0') || !key.isWellFormed()) {
    throw new TypeError('the key of a delivery must not contain NUL or a lone surrogate: encode it first')
  }
  return key
}

/**
 * Checks a number of milliseconds and returns it, rounded up: a lease must not become shorter.
 *
 * @throws TypeError when `value` is not a positive number of milliseconds
 */
export function requireMilliseconds(name: string, value: number): number {
  if (typeof value !== 'number' || !(value > 0 && value <= Number.MAX_SAFE_INTEGER)) {
    throw new TypeError(`${name} must be a number of milliseconds above 0, got ${String(value)}`)
  }
  return Math.ceil(value)
}

/**
 * Checks a lease and returns it, rounded up.
 *
 * @throws TypeError as {@link requireMilliseconds}
 * @throws ConfigurationError when the lease is longer than {@link MAX_CLAIM_MS}
 */
export function requireLease(leaseMs: number): number {
  if (typeof leaseMs === 'number' && leaseMs > MAX_CLAIM_MS) {
    throw new ConfigurationError(
      `leaseMs must be at most ${MAX_CLAIM_MS} milliseconds, got ${leaseMs}: the claim of a killed process must expire ` +
        'before the last retry of the service',
    )
  }
  return requireMilliseconds('leaseMs', leaseMs)
}

/** The outcome of `runOnce`, with the result of the function. */
export type RunOnceResult<Result> = { ran: true; result: Result } | { ran: false }

/** The default retention of the keys of `runOnce`: 365 days. */
export const YEAR_MS = 31_536_000_000

const mustBeTime = /* @__PURE__ */ positive('milliseconds', Number.MAX_SAFE_INTEGER)

/** The rule for the retention of the keys of `runOnce`. */
export const mustBeRetention: OptionRule = (value) => (value === Infinity ? undefined : mustBeTime(value))

export const COMMITTED_BY_APPLY =
  'the function of runOnce committed or rolled back, so its writes and the key were not committed together. Throw to ' +
  'roll back, return to commit'

/** The message when an INSERT stored nothing, although no other record has the key. */
export const notStored = (store: string): string =>
  `${store}: the database did not store the record, and has no other record of the key. A trigger of the table drops ` +
  'inserts: remove it'

/** Checks the limit of `prune`. @throws ConfigurationError when it is not a whole number from 1 */
export const requireLimit = (limit: number): void => refuseOptions('prune', issuesAt('limit', wholeNumber(1)(limit)))
