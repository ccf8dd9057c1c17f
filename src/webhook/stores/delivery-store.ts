import { ConfigurationError } from '../../errors/client-errors.ts'
import {
  issuesAt,
  mustHaveMethods,
  type OptionRule,
  positive,
  refuseOptions,
  wholeNumber,
} from '../../errors/option-checks.ts'
import { MAX_CLAIM_MS } from '../../shared/delivery-schedule.ts'
import { Semaphore } from '../../shared/semaphore.ts'
import { startTimer } from '../../shared/timers.ts'

/**
 * The result of a claim.
 *
 * - `claimed`: the caller has the delivery until the lease expires. Each claim has a new `token`. `notKept` is the error of a
 *   store that had no space for the message of the claim; the receiver handles the message, and passes the error to `onError`.
 * - `done`: the delivery was completed, and its record has not expired.
 * - `busy`: another claim has the delivery, for `retryMs` milliseconds unless it is extended.
 */
export type ClaimResult =
  | { state: 'claimed'; token: string; notKept?: unknown }
  | { state: 'done' }
  | { state: 'busy'; retryMs: number }

/** The message of a claim. The store keeps it until the delivery is completed. */
export interface MessageToKeep {
  /** The `endpoint` of the receiver. */
  endpoint: string
  /** The bytes of the message, at most `maxBodyBytes`. */
  rawBody: Uint8Array
  /** How long the message is kept after its last failure, in milliseconds. */
  retainMs: number
}

/**
 * Why a message is not handled:
 *
 * - `handler_failed`: the handler threw;
 * - `interrupted`: the handler stopped because its signal had fired, or the receiver could not start it;
 * - `unexpected_shape`: `unexpectedShape` is `'retry'`, and the message lacks a required field;
 * - `not_finished`: the process ended before the handler, or the store could not record how the handler ended.
 */
export type WebhookFailureReason = 'handler_failed' | 'interrupted' | 'unexpected_shape' | 'not_finished'

/** How an attempt to handle a delivery failed. */
export interface DeliveryFailure {
  /** Why the message is not handled. */
  reason: WebhookFailureReason
  /** Name and message of the error: at most 500 characters, without U+0000. */
  error?: string
  /** The bytes of the message, which a handler that failed after `runOnce` has removed from the store. */
  rawBody: Uint8Array
}

/** A delivery that is not done and has no claim. Its message is kept. */
export interface FailedDelivery {
  /** The key of the delivery. */
  key: string
  /** The bytes of the message. */
  rawBody: Uint8Array
  /** Number of claims with this message. */
  attempts: number
  /** Why the last attempt failed. */
  reason: WebhookFailureReason
  /** Name and message of the last error. */
  error?: string
  /** When the first attempt failed: ISO 8601 in UTC, by the clock of the store. */
  firstFailedAt: string
  /** When the last attempt failed, or its lease expired. */
  lastFailedAt: string
  /** The time since `lastFailedAt`, in milliseconds, rounded up. */
  ageMs: number
  /** The place of the delivery in the order: pass it as `after` to continue the list. */
  position: string
}

/**
 * The result of taking a failed delivery: as of a claim, with the bytes of the message. `unknown`: no message is kept under the
 * key.
 */
export type TakeResult =
  | { state: 'claimed'; token: string; rawBody: Uint8Array }
  | { state: 'done' }
  | { state: 'busy'; retryMs: number }
  | { state: 'unknown' }

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
 * A store that can keep failed messages has `failed`, `take` and `forget`, too. Then the record of a claim with a message is not
 * absent after a release or at the end of its lease, but failed: it has no claim, and `claim` and `take` claim it again. It is
 * removed by `forget`, and when its last failure is older than the `retainMs` of the message.
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
   * @param message - only with `keepFailed`: stored in the record of the claim, atomically, so that no crash loses it
   * @returns the result; `busy` even for the owner of the claim. The stores of this package reject with `ConfigurationError` for a
   *   longer lease, and for a message when the table has no columns for it
   */
  claim(key: string, leaseMs: number, message?: MessageToKeep): Promise<ClaimResult>

  /**
   * Extends the claim to `leaseMs` milliseconds from now.
   *
   * @returns whether the claim was extended. `false`, without a change, when the claim has expired (even if no
   * other claim replaced it), was released, or is done.
   */
  extend(key: string, token: string, leaseMs: number): Promise<boolean>

  /**
   * Ends the claim, removes its message, and records the delivery as done for `retainMs` milliseconds.
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
   * Ends the claim, so that the next attempt can claim the delivery at once. The message of the claim is kept. Does nothing when
   * the token belongs to no current claim.
   *
   * @param failure - only with `keepFailed`: recorded with the message
   */
  release(key: string, token: string, failure?: DeliveryFailure): Promise<void>

  /**
   * Returns failed deliveries of an endpoint, the oldest `lastFailedAt` first.
   *
   * @param endpoint - the `endpoint` of their messages
   * @param after - the `position` after which the list continues
   * @param limit - the maximum number of deliveries; 25 by default
   */
  failed?(endpoint: string, after?: string, limit?: number): Promise<FailedDelivery[]>

  /**
   * Claims a failed delivery, like `claim`, and returns its message.
   *
   * @param endpoint - the `endpoint` of the receiver: the result is `unknown`, without a change, when the message has another one
   */
  take?(key: string, leaseMs: number, endpoint?: string): Promise<TakeResult>

  /**
   * Removes a message and its failures. A current claim continues without a message.
   *
   * @param endpoint - the `endpoint` of the receiver: nothing is removed when the message has another one
   * @returns whether a message was kept
   */
  forget?(key: string, endpoint?: string): Promise<boolean>
}

/** The rule for a store that keeps messages. */
export const mustKeepMessages = mustHaveMethods('failed', 'take', 'forget')

/** The number of failed deliveries that a store returns at once: with messages of 256 KiB, they are 6.4 MB. */
export const PAGE_SIZE = 25

/** The number of old records that are searched for expired messages when a message is kept. */
export const EXPIRY_SEARCH = 100

/** The columns that a claim with a message sets in the existing row of its key, in SQLite and PostgreSQL. */
export const SET_MESSAGE = `, endpoint = excluded.endpoint, keep_ms = excluded.keep_ms, message = excluded.message,
          attempts = CASE record.state WHEN 'claimed' THEN coalesce(record.attempts, 0) + 1 ELSE 1 END,
          first_failed_at =
            CASE record.state WHEN 'claimed' THEN coalesce(record.first_failed_at, record.expires_at) END,
          failure_reason = NULL, failure_error = NULL`

/** The message of the error when a table has no columns for messages. */
export const noColumns = (store: string, statement: string): string =>
  `${store}: keepFailed needs columns that the table does not have. Run: ${statement}`

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

const FIRST_DELAY_MS = 500

/**
 * Releases claims that nobody holds: the store has given up waiting for the response, but the database may still make the claim,
 * or has made it. Otherwise the message would be busy for a whole lease.
 */
export class LateClaims {
  /** Limits the store to one such release at a time: while the database is down, there may be many. */
  readonly #turn = new Semaphore(1)

  /**
   * Tries to release a claim until it was released, or its lease would be over.
   *
   * @param leaseMs - the lease of the claim
   * @param release - resolves to whether the claim existed
   */
  async release(leaseMs: number, release: () => Promise<boolean>): Promise<void> {
    const end = performance.now() + leaseMs
    const tryOnce = async (): Promise<boolean> => performance.now() >= end || release()
    for (let delayMs = FIRST_DELAY_MS; ; delayMs *= 2) {
      await new Promise<void>((resolve) => void startTimer(delayMs, resolve))
      if (await this.#turn.run(tryOnce).catch(() => false)) return
    }
  }
}
