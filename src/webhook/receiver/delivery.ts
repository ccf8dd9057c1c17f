import { sha256Hex } from '#crypto'
import { LeaseError } from '../../errors/webhook-errors.ts'
import { sleep, TIMED_OUT, withTimeout } from '../../shared/timers.ts'
import { isError, typeName } from '../../shared/type-checks.ts'
import type { ClaimResult, DeliveryStore, WebhookFailureReason } from '../stores/delivery-store.ts'
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

/** A record in the store. `failed-messages.ts` describes how it keeps a failed message. */
export interface DeliveryRecord {
  /** The key in the store: see {@link deliveryKey}. */
  readonly key: string
  /** When the request arrived or the replay began, as a time of `performance.now()`. */
  readonly arrivedAt: number
  readonly settings: ReceiverSettings
  readonly reports: ReceiverReports
}

/** One message for one endpoint. */
export interface ReceivedDelivery extends DeliveryRecord {
  readonly message: Message
}

/** A delivery that this receiver has claimed. */
export interface ClaimedDelivery extends ReceivedDelivery {
  readonly isReplay: boolean
  readonly token: string
  /** The time of `performance.now()` just before the claim was sent. The lease cannot have started earlier. */
  readonly claimedAt: number
}

/** A call of the store that is retried after a failure. Its promises never reject: `onError` receives the last failure. */
export interface StoreCall {
  /** Resolves after the first attempt, even if it failed. */
  readonly firstAttempt: Promise<void>
  /** Resolves to `true` when an attempt has succeeded, and to `false` when all have failed or the claim was lost. */
  readonly settled: Promise<boolean>
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

/**
 * Whether a key may be one of an endpoint. A digest does not show its endpoint.
 *
 * @throws TypeError when the key is not a string
 */
export function isKeyOf(endpoint: string, key: string): boolean {
  if (typeof key !== 'string') {
    throw new TypeError(`key must be a string, the key of a message from failed(); got ${typeName(key)}`)
  }
  return key.startsWith(`${JSON.stringify([endpoint]).slice(0, -1)},`) || key.startsWith('["","digest",')
}

/** The result of {@link claimDelivery}. */
type Claim =
  | { state: 'claimed'; claimed: ClaimedDelivery }
  /** `onError` has received the failure. `released` resolves when a claim that came too late is released. */
  | { state: 'failed'; released?: Promise<void> }
  | Exclude<ClaimResult, { state: 'claimed' }>

export async function claimDelivery(delivery: ReceivedDelivery, deadline: Deadline): Promise<Claim> {
  const { key, message, settings } = delivery
  const { store, leaseMs, endpoint, keepFailedMs: retainMs } = settings
  // A claim made after the deadline might not end before the service sends its last retry. That retry would then fail.
  if (deadline.passed) {
    reportError(delivery, new Error('the deadline passed before the delivery could be claimed'), 'claim')
    return { state: 'failed' }
  }
  const claimedAt = performance.now()
  const { rawBody } = message
  const kept = retainMs === undefined ? undefined : { endpoint, rawBody, retainMs }
  const response = (async () =>
    requireClaim(await (kept ? store.claim(key, leaseMs, kept) : store.claim(key, leaseMs))))()
  try {
    const claim = await deadline.meet(response)
    if (claim !== LATE) {
      if (claim.state !== 'claimed') return claim
      const { token, notKept } = claim
      if (notKept !== undefined) reportError(delivery, new Error(NOT_KEPT, { cause: notKept }), 'claim')
      const isInTime = performance.now() < claimedAt + leaseMs
      if (isInTime) return { state: 'claimed', claimed: { ...delivery, isReplay: false, token, claimedAt } }
    }
  } catch (error) {
    reportError(delivery, error, 'claim')
    return { state: 'failed' }
  }
  const late = noResponse('claim', Math.min(deadline.delayMs, leaseMs))
  reportError(delivery, late, 'claim')
  return { state: 'failed', released: releaseLateClaim(response, delivery, claimedAt, late) }
}

const NOT_KEPT = 'the delivery store had no space for the message: if this attempt fails, the message is not kept'

async function releaseLateClaim(
  response: Promise<ClaimResult>,
  delivery: ReceivedDelivery,
  claimedAt: number,
  late: Error,
): Promise<void> {
  try {
    const claim = await response
    if (claim.state !== 'claimed') return
    await interruptDelivery({ ...delivery, isReplay: false, token: claim.token, claimedAt }, late).settled
  } catch (error) {
    reportError(delivery, error, 'claim')
  }
}

export function completeDelivery(delivery: ClaimedDelivery): StoreCall {
  const { store, retainMs } = delivery.settings
  const complete = () => store.complete(delivery.key, delivery.token, retainMs)
  return callWithRetries(delivery, 'complete', complete, (result) => {
    if (requireBoolean('complete', result)) return true
    const message = 'the handler succeeded, but another receiver claimed the delivery: it may have been handled twice'
    reportError(delivery, new LeaseError('lease_lost', message), 'complete')
    return false
  })
}

/**
 * Ends a claim, because the message is not handled. If the store fails, the claim ends when its lease expires.
 *
 * @param reason - recorded with the error and the message, if that is kept
 */
export function releaseDelivery(delivery: ClaimedDelivery, reason: WebhookFailureReason, error: unknown): StoreCall {
  const { key, token, message, isReplay, settings } = delivery
  const { store, keepFailedMs } = settings
  const isKept = keepFailedMs !== undefined || isReplay
  const failure = { reason, error: describe(error), rawBody: message.rawBody }
  const release = () => (isKept ? store.release(key, token, failure) : store.release(key, token))
  return callWithRetries(delivery, 'release', release)
}

/** Ends a claim whose handler was not called, or is still running while the process is about to exit. */
export const interruptDelivery = (delivery: ClaimedDelivery, reason: unknown): StoreCall =>
  releaseDelivery(delivery, 'interrupted', reason)

const MAX_ERROR_LENGTH = 500

/** Returns the name and the message of a thrown value. Databases refuse U+0000 and lone surrogates. */
function describe(error: unknown): string {
  let text = 'unknown error'
  try {
    text = isError(error) ? `${error.name}: ${error.message}` : String(error)
  } catch {
    // A thrown value may have no text.
  }
  return text.slice(0, MAX_ERROR_LENGTH).replaceAll('\0', '').toWellFormed()
}

/**
 * Calls the store up to five times. A late response to an earlier attempt counts too.
 *
 * @param isSuccess - checks the first result
 */
function callWithRetries<Result>(
  delivery: ClaimedDelivery,
  method: 'complete' | 'release',
  call: () => Promise<Result>,
  isSuccess: (result: Result) => boolean = () => true,
): StoreCall {
  const scale = Math.min(1, delivery.settings.leaseMs / FULL_LEASE_MS)
  const attemptMs = ATTEMPT_MS * scale
  const results: Result[] = []
  const attempt = async (): Promise<void> => {
    results.push(await call())
  }
  const firstAttempt = Promise.withResolvers<void>()
  const settle = async (): Promise<boolean> => {
    let failure: unknown
    let hasSucceeded = false
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
      hasSucceeded = isSuccess(results[0] as Result)
    } catch (error) {
      reportError(delivery, error, method)
    }
    firstAttempt.resolve()
    return hasSucceeded
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
