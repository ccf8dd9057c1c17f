import { sha256Hex } from '#hmac'
import { typeName } from '../../shared/types.ts'
import type { ClaimResult, DeliveryStore } from '../stores/store.ts'
import { type Deadline, LATE } from './deadline.ts'
import { LeaseError } from './handler-errors.ts'
import { monotonicNow, settles, sleep } from './timers.ts'
import type { WebhookErrorStage } from './webhook-receiver-options.ts'

/** In characters. Fits the index of any database, also where each takes three bytes. */
const MAX_KEY_LENGTH = 512

/** Completing or releasing: how long an attempt may take, and the waits before each attempt, for leases of 30 s and more. */
const ATTEMPT_MS = 2000
const WAITS_MS = [0, 100, 300, 1000, 3000] as const
/** With a shorter lease all of them shrink, so that five attempts fit into half of it. */
const FULL_LEASE_MS = 30_000

/** A delivery in a store. */
export interface StoredDelivery {
  store: DeliveryStore
  key: string
  leaseMs: number
  onError(error: unknown, stage: WebhookErrorStage): void
}

/** A delivery that this receiver has claimed. */
export interface ClaimedDelivery extends StoredDelivery {
  token: string
  /** When the claim was sent, on the monotonic clock: the lease cannot have begun earlier. */
  claimedAt: number
}

/**
 * Returns the key under which a delivery is remembered: the endpoint and the id of the message.
 *
 * JSON separates the two whatever they contain, and escapes NUL and lone surrogates, which some databases refuse. A key
 * that would be too long is replaced by its digest; with three elements it never equals another key.
 */
export function deliveryKey(endpoint: string, id: string): string {
  const key = JSON.stringify([endpoint, id])
  return key.length <= MAX_KEY_LENGTH ? key : JSON.stringify(['', 'digest', sha256Hex(key)])
}

/**
 * Claims a delivery.
 *
 * @param awaitedByClose - receives the release of a claim that comes too late, so that `close()` waits for it
 * @returns `undefined` when the store failed or was too slow, which was reported
 */
export async function claimDelivery(
  delivery: StoredDelivery,
  deadline: Deadline,
  awaitedByClose: (work: Promise<void>) => void,
): Promise<{ claim: ClaimResult; claimedAt: number } | undefined> {
  const { store, key, leaseMs, onError } = delivery
  // A claim made after the deadline could still be held when the last retry comes.
  if (deadline.passed) {
    onError(new Error('The time of the request was up before the delivery store could be asked.'), 'claim')
    return undefined
  }
  const claimedAt = monotonicNow()
  const asked = (async () => requireClaim(await store.claim(key, leaseMs)))()
  try {
    const claim = await deadline.meet(asked)
    // A claim whose lease is over may already belong to another receiver.
    const isHeld = monotonicNow() < claimedAt + leaseMs
    if (claim !== LATE && (isHeld || claim.state !== 'claimed')) return { claim, claimedAt }
  } catch (error) {
    onError(error, 'claim')
    return undefined
  }
  onError(noAnswer('claim', Math.min(deadline.delayMs, leaseMs)), 'claim')
  awaitedByClose(releaseLateClaim(asked, delivery))
  return undefined
}

async function releaseLateClaim(asked: Promise<ClaimResult>, delivery: StoredDelivery): Promise<void> {
  try {
    const claim = await asked
    if (claim.state === 'claimed') await releaseDelivery({ ...delivery, token: claim.token })
  } catch (error) {
    delivery.onError(error, 'claim')
  }
}

/** Extends the lease of a delivery. Returns whether the claim still holds. */
export async function extendLease({ store, key, token, leaseMs }: ClaimedDelivery): Promise<boolean> {
  return requireBoolean('extend', await store.extend(key, token, leaseMs))
}

/**
 * Records a delivery as done. Never rejects: a failure is reported.
 *
 * @param onFirstAttempt - called when the first attempt failed or took too long
 */
export async function completeDelivery(
  { store, key, token, leaseMs, onError }: ClaimedDelivery,
  retainMs: number,
  onFirstAttempt: () => void,
): Promise<void> {
  try {
    const answer = await callWithRetries(
      'complete',
      leaseMs,
      () => store.complete(key, token, retainMs),
      onFirstAttempt,
    )
    if (requireBoolean('complete', answer)) return
    const message = 'The handler succeeded, but its delivery had been taken over: it may have been handled twice.'
    onError(new LeaseError('lease_lost', message), 'complete')
  } catch (error) {
    onError(error, 'complete')
  }
}

/**
 * Ends a claim. Never rejects: a failure is reported, and the claim lapses.
 *
 * @param onFirstAttempt - called when the first attempt failed or took too long
 */
export async function releaseDelivery(
  { store, key, token, leaseMs, onError }: Omit<ClaimedDelivery, 'claimedAt'>,
  onFirstAttempt: () => void = () => {},
): Promise<void> {
  try {
    await callWithRetries('release', leaseMs, () => store.release(key, token), onFirstAttempt)
  } catch (error) {
    onError(error, 'release')
  }
}

/**
 * Calls the store up to five times. An attempt that hangs is not waited for, but its answer counts whenever it comes.
 *
 * @returns the first answer; rejects with the last failure
 */
async function callWithRetries(
  method: keyof DeliveryStore,
  leaseMs: number,
  call: () => Promise<unknown>,
  onFirstAttempt: () => void,
): Promise<unknown> {
  const share = Math.min(1, leaseMs / FULL_LEASE_MS)
  const answers: unknown[] = []
  const attempt = async (): Promise<void> => {
    answers.push(await call())
  }
  let failure: unknown
  for (const waitMs of WAITS_MS) {
    if (waitMs > 0) {
      onFirstAttempt()
      await sleep(waitMs * share)
    }
    if (answers.length > 0) break
    try {
      if (await settles(ATTEMPT_MS * share, attempt())) break
      failure = noAnswer(method, ATTEMPT_MS * share)
    } catch (error) {
      failure = error
    }
  }
  if (answers.length === 0) throw failure
  return answers[0]
}

/** Returns the error for a store that does not answer. */
export const noAnswer = (method: keyof DeliveryStore, delayMs: number): Error =>
  new Error(`The delivery store's ${method}() did not answer within ${Math.round(delayMs)} ms.`)

// A store without types may resolve to anything. Such an answer counts as a failure, neither as yes nor as no.

function requireClaim(claim: ClaimResult): ClaimResult {
  const state: unknown = claim?.state
  if (state === 'done' || state === 'busy') return claim
  if (claim?.state === 'claimed' && typeof claim.token === 'string' && claim.token !== '') return claim
  throw new TypeError("The delivery store's claim() must resolve to { state: 'claimed', token }, 'done' or 'busy'.")
}

function requireBoolean(method: 'extend' | 'complete', answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw new TypeError(
    `The delivery store's ${method}() must resolve to true or false, and resolved to ${typeName(answer)}.`,
  )
}
