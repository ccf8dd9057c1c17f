import { sha256Hex } from '#hmac'
import { LeaseError } from '../../errors/webhook-errors.ts'
import { sleep, startTimer, TIMED_OUT, withTimeout } from '../../shared/timers.ts'
import { typeName } from '../../shared/type-checks.ts'
import type { ClaimResult, DeliveryStore } from '../stores/delivery-store.ts'
import { type Deadline, LATE } from './deadline.ts'
import type { WebhookErrorStage } from './options.ts'

/** The time limit of each attempt to complete or release a delivery. */
const ATTEMPT_MS = 2000
/** The delay before each attempt to complete or release a delivery. */
const DELAYS_MS = [0, 100, 300, 1000, 3000] as const
/**
 * If `leaseMs` is below this value, `ATTEMPT_MS` and `DELAYS_MS` are reduced in proportion. Five attempts then fit into
 * half of the lease.
 */
const FULL_LEASE_MS = 30_000

/** One message for one endpoint, and the store that records it. */
export interface Delivery {
  readonly store: DeliveryStore
  readonly key: string
  readonly leaseMs: number
  onError(error: unknown, stage: WebhookErrorStage): void
}

/** A delivery that this receiver has claimed. */
export interface ClaimedDelivery extends Delivery {
  readonly token: string
  /** The time of `performance.now()` just before the claim was sent. The lease cannot have started earlier. */
  readonly claimedAt: number
}

/** A call of the store that is retried after a failure. Its promises never reject: `onError` receives the last failure. */
export interface StoreCall {
  /** Resolves after the first attempt, even if it failed. */
  readonly firstAttempt: Promise<void>
  /** Resolves when an attempt has succeeded, or all have failed. */
  readonly settled: Promise<void>
}

/** The maximum length of a key in characters. Even with three bytes per character, a key fits the index of any database. */
const MAX_KEY_LENGTH = 512

/**
 * Returns the key of a delivery in the store: the endpoint and the id of the message.
 *
 * The key is a JSON array, so that different pairs never have the same key. JSON escapes NUL and lone surrogates, which
 * some databases refuse. A key that would be too long is replaced by a digest. Its array has three elements instead of two,
 * so that it never equals a short key.
 */
export function deliveryKey(endpoint: string, id: string): string {
  const key = JSON.stringify([endpoint, id])
  return key.length <= MAX_KEY_LENGTH ? key : JSON.stringify(['', 'digest', sha256Hex(key)])
}

/**
 * Claims a delivery.
 *
 * @param onLateClaim - receives a promise that resolves when a late claim is released
 * @returns the result, with the delivery if it is claimed; `undefined` after a failure, which `onError` has received
 */
export async function claimDelivery(
  delivery: Delivery,
  deadline: Deadline,
  onLateClaim: (released: Promise<void>) => void,
): Promise<{ state: 'claimed'; claimed: ClaimedDelivery } | Exclude<ClaimResult, { state: 'claimed' }> | undefined> {
  const { store, key, leaseMs, onError } = delivery
  // A claim made after the deadline might not end before the service sends its last retry. That retry would then fail.
  if (deadline.passed) {
    onError(new Error('The deadline passed before the delivery could be claimed.'), 'claim')
    return undefined
  }
  const claimedAt = performance.now()
  const response = (async () => requireClaim(await store.claim(key, leaseMs)))()
  try {
    const claim = await deadline.meet(response)
    if (claim !== LATE && claim.state !== 'claimed') return claim
    if (claim !== LATE && performance.now() < claimedAt + leaseMs) {
      return { state: 'claimed', claimed: { ...delivery, token: claim.token, claimedAt } }
    }
  } catch (error) {
    onError(error, 'claim')
    return undefined
  }
  onError(noResponse('claim', Math.min(deadline.delayMs, leaseMs)), 'claim')
  onLateClaim(releaseLateClaim(response, delivery, claimedAt))
  return undefined
}

async function releaseLateClaim(response: Promise<ClaimResult>, delivery: Delivery, claimedAt: number): Promise<void> {
  try {
    const claim = await response
    if (claim.state === 'claimed') await releaseDelivery({ ...delivery, token: claim.token, claimedAt }).settled
  } catch (error) {
    delivery.onError(error, 'claim')
  }
}

/** Records a delivery as done. */
export function completeDelivery(delivery: ClaimedDelivery, retainMs: number): StoreCall {
  const { store, key, token, onError } = delivery
  const complete = () => store.complete(key, token, retainMs)
  return callWithRetries(delivery, 'complete', complete, (result) => {
    if (requireBoolean('complete', result)) return
    const message = 'The handler succeeded, but another receiver claimed the delivery: it may have been handled twice.'
    onError(new LeaseError('lease_lost', message), 'complete')
  })
}

/** Ends a claim. After a failure, the claim ends when its lease expires. */
export function releaseDelivery(delivery: ClaimedDelivery): StoreCall {
  const { store, key, token } = delivery
  return callWithRetries(
    delivery,
    'release',
    () => store.release(key, token),
    () => {},
  )
}

/**
 * Calls the store up to five times. A late response to an earlier attempt counts too.
 *
 * @param onResult - checks the first result
 */
function callWithRetries<Result>(
  { leaseMs, onError }: Delivery,
  method: 'complete' | 'release',
  call: () => Promise<Result>,
  onResult: (result: Result) => void,
): StoreCall {
  const scale = Math.min(1, leaseMs / FULL_LEASE_MS)
  const attemptMs = ATTEMPT_MS * scale
  const results: Result[] = []
  const attempt = async (): Promise<void> => {
    results.push(await call())
  }
  let onFirstAttempt = (): void => {}
  const firstAttempt = new Promise<void>((resolve) => {
    onFirstAttempt = resolve
  })
  const settle = async (): Promise<void> => {
    let failure: unknown
    for (const delayMs of DELAYS_MS) {
      if (delayMs > 0) await sleep(delayMs * scale)
      if (results.length > 0) break
      try {
        if ((await withTimeout(attempt(), attemptMs)) !== TIMED_OUT) break
        failure = noResponse(method, attemptMs)
      } catch (error) {
        failure = error
      }
      onFirstAttempt()
    }
    try {
      if (results.length === 0) throw failure
      onResult(results[0] as Result)
    } catch (error) {
      onError(error, method)
    }
    onFirstAttempt()
  }
  return { firstAttempt, settled: settle() }
}

/** How long a handler may run. */
export interface RunLimit {
  /** When the handler must stop, as a time of `performance.now()`. The lease is not extended after that. */
  readonly until: number
  /** The message of the error when the limit is reached. */
  readonly message: string
}

/**
 * Extends a lease three times per `leaseMs` while the handler runs, and aborts `signal` when the handler must stop.
 *
 * Counts `leaseMs` from just before each call of the store. The store counts from a later time. The signal therefore fires
 * before another receiver can claim the delivery.
 */
export class Lease {
  readonly #delivery: ClaimedDelivery
  readonly #limit: RunLimit
  readonly #controller = new AbortController()
  /** A time of `performance.now()`, like all times in this class. */
  #expiresAt: number
  #extendAt: number
  /** When the pending extension was sent; `undefined` if none is pending. */
  #pendingSince: number | undefined
  #cancelTimer: () => void = () => {}
  #abortReason: LeaseError | undefined
  #ended = false

  constructor(delivery: ClaimedDelivery, limit: RunLimit) {
    this.#delivery = delivery
    this.#limit = limit
    this.#expiresAt = delivery.claimedAt + delivery.leaseMs
    this.#extendAt = delivery.claimedAt + delivery.leaseMs / 3
    this.#startTimer()
  }

  /** Fires when the handler must stop. Never fires after `end()`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why the handler had to stop, or `undefined`. */
  get abortReason(): LeaseError | undefined {
    return this.#abortReason
  }

  /** Stops extending, because the handler has ended. */
  end(): void {
    this.#ended = true
    this.#cancelTimer()
  }

  /** Stops extending, and aborts the signal. Does nothing after `end()`. */
  abort(reason: LeaseError): void {
    if (this.#ended) return
    this.end()
    this.#abortReason = reason
    this.#delivery.onError(reason, reason.code === 'lease_lost' ? 'extend' : 'handle')
    this.#controller.abort(reason)
  }

  #startTimer(): void {
    const next = Math.min(this.#limit.until, this.#expiresAt, this.#extendAt)
    this.#cancelTimer()
    this.#cancelTimer = startTimer(next - performance.now(), () => this.#onTimer())
  }

  #onTimer(): void {
    const now = performance.now()
    // Check in this order: after a blocked event loop, several of these times may have passed.
    if (now >= this.#limit.until) {
      this.abort(
        new LeaseError(
          'run_time_exceeded',
          `${this.#limit.message} The claim ends when the handler ends or the lease expires.`,
        ),
      )
    } else if (now >= this.#expiresAt) {
      this.abort(new LeaseError('lease_lost', 'The delivery store did not extend the lease before it expired.'))
    } else {
      if (now >= this.#extendAt) void this.#extend(now)
      this.#startTimer()
    }
  }

  /** Tries once to extend the lease. Without a response, the timer starts another attempt; a late response still counts. */
  async #extend(sentAt: number): Promise<void> {
    const { store, key, token, leaseMs, onError } = this.#delivery
    const attemptMs = leaseMs / 6
    if (this.#pendingSince !== undefined) onError(noResponse('extend', attemptMs), 'extend')
    this.#pendingSince = sentAt
    this.#extendAt = sentAt + attemptMs
    let isExtended: boolean
    try {
      isExtended = requireBoolean('extend', await store.extend(key, token, leaseMs))
    } catch (error) {
      if (this.#ended || this.#pendingSince !== sentAt) return
      onError(error, 'extend')
      this.#pendingSince = undefined
      this.#extendAt = performance.now() + leaseMs / 10
      return this.#startTimer()
    }
    if (this.#ended) return
    if (!isExtended) {
      return this.abort(new LeaseError('lease_lost', 'The lease was lost: another receiver may have the delivery now.'))
    }
    this.#expiresAt = Math.max(this.#expiresAt, sentAt + leaseMs)
    if (this.#pendingSince === sentAt) {
      this.#pendingSince = undefined
      // Counted from the call, because a slow store responds late.
      this.#extendAt = sentAt + leaseMs / 3
    }
    this.#startTimer()
  }
}

/** Returns the error for a store that does not respond. */
const noResponse = (method: keyof DeliveryStore, delayMs: number): Error =>
  new Error(`The delivery store's ${method}() did not respond within ${Math.round(delayMs)} ms.`)

function requireClaim(claim: ClaimResult): ClaimResult {
  const state: unknown = claim?.state
  if (state === 'done' || state === 'busy') return claim
  if (claim?.state === 'claimed' && typeof claim.token === 'string' && claim.token !== '') return claim
  throw new TypeError(
    "The delivery store's claim() must resolve to { state: 'claimed', token }, { state: 'done' } or " +
      "{ state: 'busy', retryMs }.",
  )
}

/** Refuses `undefined`, which does not show whether the claim still existed. */
function requireBoolean(method: 'extend' | 'complete', result: unknown): boolean {
  if (typeof result === 'boolean') return result
  throw new TypeError(
    `The delivery store's ${method}() must resolve to true or false, and resolved to ${typeName(result)}.`,
  )
}
