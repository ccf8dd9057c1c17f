import { sha256Hex } from '#crypto'
import { ConfigurationError } from '../../errors/client-errors.ts'
import { LeaseError } from '../../errors/webhook-errors.ts'
import { DELIVERY_SPAN_MS } from '../../shared/delivery-schedule.ts'
import { sleep, TIMED_OUT, withTimeout } from '../../shared/timers.ts'
import { isError, typeName } from '../../shared/type-checks.ts'
import { parseWebhookBody, type WebhookEvent } from '../event.ts'
import {
  type ClaimResult,
  type DeliveryStore,
  type FailedDelivery,
  mustKeepMessages,
  type TakeResult,
  type WebhookFailureReason,
} from '../stores/delivery-store.ts'
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

/**
 * A record in the store. With `keepFailed`, it keeps the message until it is handled:
 *
 * 1. {@link claimDelivery} stores the bytes in the record of the claim.
 * 2. `complete` removes them, and so does `runOnce`. {@link releaseDelivery} leaves them, with the failure. If the process dies,
 *    they stay without a failure.
 * 3. {@link listFailed} lists the records that have bytes and no claim.
 * 4. {@link takeDelivery} takes such a record: a claim that returns the bytes. From there on, a replay is like a delivery.
 */
interface DeliveryRecord {
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

/** The result of {@link takeDelivery}. */
export type TakenDelivery = { state: 'claimed'; claimed: ClaimedDelivery } | Exclude<TakeResult, { state: 'claimed' }>

/**
 * Takes a failed delivery for a replay, like {@link claimDelivery}.
 *
 * @throws the error of the store
 */
export async function takeDelivery(record: DeliveryRecord): Promise<TakenDelivery> {
  const { key, settings } = record
  const claimedAt = performance.now()
  const taken = await keepingStore(settings).take(key, settings.leaseMs, settings.endpoint)
  if (taken.state !== 'claimed') return taken
  const { rawBody, token } = taken
  const message = { event: parseWebhookBody(rawBody), rawBody, secretIndex: null }
  const claimed = { ...record, message, isReplay: true, token, claimedAt }
  if (performance.now() >= claimedAt + settings.leaseMs) {
    const late = noResponse('take', settings.leaseMs)
    await interruptDelivery(claimed, late).settled
    throw late
  }
  if (deliveryKey(settings.endpoint, message.event.id) === key) return { state: 'claimed', claimed }
  await interruptDelivery(claimed, new Error('taken by a receiver of another endpoint')).settled
  return { state: 'unknown' }
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

/** A message that failed, and is kept. See {@link WebhookReceiver.failed}. */
export interface WebhookFailedMessage extends Omit<FailedDelivery, 'ageMs' | 'position'> {
  /** The id of the message. */
  id: string
  /** The kind of its event. */
  kind: WebhookEvent['kind']
}

/** The service has given a message up that has no attempt for longer than its longest delay, 300 s. */
export const GIVEN_UP_MS: number = DELIVERY_SPAN_MS + 5_000

/**
 * Returns the store of a receiver if it keeps messages.
 *
 * @throws ConfigurationError when the store lacks a method
 */
export function keepingStore({ store }: ReceiverSettings): Required<DeliveryStore> {
  const problem = mustKeepMessages(store)
  if (problem === undefined) return store as Required<DeliveryStore>
  throw new ConfigurationError(
    `the store keeps no messages: it ${problem}; use sqliteStore or postgresStore, with keepFailed`,
  )
}

/** Lists the failed messages whose last failure is at least `olderThanMs` ago when the list begins. */
export async function* listFailed(
  store: Required<DeliveryStore>,
  endpoint: string,
  olderThanMs: number,
): AsyncGenerator<WebhookFailedMessage, void, undefined> {
  let after: string | undefined
  /** A time of the store's clock. Without it, a list of messages that fail again in their replays would never end. */
  let until: number | undefined
  /** A message may fail again within the first millisecond of the list. */
  const listed = new Set<string>()
  while (true) {
    const listedBefore = listed.size
    const page = await store.failed(endpoint, after)
    for (const { ageMs, position, ...failed } of page) {
      const lastFailedAt = Date.parse(failed.lastFailedAt)
      until ??= lastFailedAt + ageMs - olderThanMs
      if (lastFailedAt > until) return
      after = position
      if (listed.has(failed.key)) continue
      listed.add(failed.key)
      const { id, kind } = parseWebhookBody(failed.rawBody)
      yield { ...failed, id, kind }
    }
    if (listed.size === listedBefore) return
  }
}
