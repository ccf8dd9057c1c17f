import { sha256Hex } from '#crypto'
import { LeaseError } from '../../errors/webhook-errors.ts'
import { sleep, TIMED_OUT, withTimeout } from '../../shared/timers.ts'
import { typeName } from '../../shared/type-checks.ts'
import type { ClaimResult, DeliveryStore } from '../stores/delivery-store.ts'
import type { ReceiverSettings, WebhookErrorStage } from './options.ts'
import type { ReceiverReports } from './reports.ts'
import { type Deadline, LATE, type Message } from './request.ts'

/** The time limit of each attempt to complete or release a delivery. */
const ATTEMPT_MS = 2000
/** The delay before each attempt to complete or release a delivery. */
const DELAYS_MS = [0, 100, 300, 1000, 3000] as const
/**
 * If `leaseMs` is below this value, `ATTEMPT_MS` and `DELAYS_MS` are reduced in proportion. Five attempts then fit into
 * half of the lease.
 */
const FULL_LEASE_MS = 30_000

/** One message for one endpoint. */
interface ReceivedDelivery {
  /** The key in the store: see {@link deliveryKey}. */
  readonly key: string
  readonly message: Message
  /** When the request arrived, as a time of `performance.now()`. */
  readonly arrivedAt: number
  readonly settings: ReceiverSettings
  readonly reports: ReceiverReports
}

/** A delivery that this receiver has claimed. */
export interface ClaimedDelivery extends ReceivedDelivery {
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
 * Returns the store's key for a message. A JSON array keeps different pairs apart, and escapes NUL and lone surrogates, which
 * some databases refuse. A key that would be too long is replaced by a digest. Its array has three elements instead of two,
 * so that it never equals a short key.
 */
export function deliveryKey(endpoint: string, id: string): string {
  const key = JSON.stringify([endpoint, id])
  return key.length <= MAX_KEY_LENGTH ? key : JSON.stringify(['', 'digest', sha256Hex(key)])
}

/** The result of {@link claimDelivery}. */
type Claim =
  | { state: 'claimed'; claimed: ClaimedDelivery }
  /** `onError` has received the failure. `released` resolves when a claim that came too late is released. */
  | { state: 'failed'; released?: Promise<void> }
  | Exclude<ClaimResult, { state: 'claimed' }>

export async function claimDelivery(delivery: ReceivedDelivery, deadline: Deadline): Promise<Claim> {
  const { store, leaseMs } = delivery.settings
  // A claim made after the deadline might not end before the service sends its last retry. That retry would then fail.
  if (deadline.passed) {
    reportError(delivery, new Error('the deadline passed before the delivery could be claimed'), 'claim')
    return { state: 'failed' }
  }
  const claimedAt = performance.now()
  const response = (async () => requireClaim(await store.claim(delivery.key, leaseMs)))()
  try {
    const claim = await deadline.meet(response)
    if (claim !== LATE) {
      if (claim.state !== 'claimed') return claim
      const isInTime = performance.now() < claimedAt + leaseMs
      if (isInTime) return { state: 'claimed', claimed: { ...delivery, token: claim.token, claimedAt } }
    }
  } catch (error) {
    reportError(delivery, error, 'claim')
    return { state: 'failed' }
  }
  reportError(delivery, noResponse('claim', Math.min(deadline.delayMs, leaseMs)), 'claim')
  return { state: 'failed', released: releaseLateClaim(response, delivery, claimedAt) }
}

async function releaseLateClaim(
  response: Promise<ClaimResult>,
  delivery: ReceivedDelivery,
  claimedAt: number,
): Promise<void> {
  try {
    const claim = await response
    if (claim.state === 'claimed') await releaseDelivery({ ...delivery, token: claim.token, claimedAt }).settled
  } catch (error) {
    reportError(delivery, error, 'claim')
  }
}

export function completeDelivery(delivery: ClaimedDelivery): StoreCall {
  const { store, retainMs } = delivery.settings
  const complete = () => store.complete(delivery.key, delivery.token, retainMs)
  return callWithRetries(delivery, 'complete', complete, (result) => {
    if (requireBoolean('complete', result)) return
    const message = 'the handler succeeded, but another receiver claimed the delivery: it may have been handled twice'
    reportError(delivery, new LeaseError('lease_lost', message), 'complete')
  })
}

/** Ends a claim. After a failure, the claim ends when its lease expires. */
export function releaseDelivery(delivery: ClaimedDelivery): StoreCall {
  const { store } = delivery.settings
  return callWithRetries(delivery, 'release', () => store.release(delivery.key, delivery.token))
}

/**
 * Calls the store up to five times. A late response to an earlier attempt counts too.
 *
 * @param onResult - checks the first result
 */
function callWithRetries<Result>(
  delivery: ReceivedDelivery,
  method: 'complete' | 'release',
  call: () => Promise<Result>,
  onResult?: (result: Result) => void,
): StoreCall {
  const scale = Math.min(1, delivery.settings.leaseMs / FULL_LEASE_MS)
  const attemptMs = ATTEMPT_MS * scale
  const results: Result[] = []
  const attempt = async (): Promise<void> => {
    results.push(await call())
  }
  const firstAttempt = Promise.withResolvers<void>()
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
      firstAttempt.resolve()
    }
    try {
      if (results.length === 0) throw failure
      onResult?.(results[0] as Result)
    } catch (error) {
      reportError(delivery, error, method)
    }
    firstAttempt.resolve()
  }
  return { firstAttempt: firstAttempt.promise, settled: settle() }
}

export function reportError({ reports, message }: ReceivedDelivery, error: unknown, stage: WebhookErrorStage): void {
  reports.error(error, stage, message.event.id)
}

export const noResponse = (method: keyof DeliveryStore, delayMs: number): Error =>
  new Error(`the delivery store's ${method}() did not respond within ${Math.round(delayMs)} ms`)

function requireClaim(claim: ClaimResult): ClaimResult {
  const state: unknown = claim?.state
  if (state === 'done' || state === 'busy') return claim
  if (claim?.state === 'claimed' && typeof claim.token === 'string' && claim.token !== '') return claim
  throw new TypeError(
    "the delivery store's claim() must resolve to { state: 'claimed', token }, { state: 'done' } or " +
      "{ state: 'busy', retryMs }",
  )
}

/** Refuses `undefined`, which does not show whether the claim still existed. */
export function requireBoolean(method: 'extend' | 'complete', result: unknown): boolean {
  if (typeof result === 'boolean') return result
  throw new TypeError(
    `the delivery store's ${method}() must resolve to true or false, and resolved to ${typeName(result)}`,
  )
}
