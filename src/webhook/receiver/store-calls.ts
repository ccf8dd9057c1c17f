import { typeName } from '../../shared/type-checks.ts'
import { LeaseError } from '../errors.ts'
import type { ClaimResult, DeliveryStore } from '../stores/delivery-store.ts'
import { type Deadline, LATE } from './deadline.ts'
import { settlesWithin, sleep } from './timers.ts'
import type { WebhookErrorStage } from './webhook-receiver-options.ts'

/** The time limit of each attempt to complete or release a delivery. */
const ATTEMPT_MS = 2000
/** The delay before each attempt to complete or release a delivery. */
const WAITS_MS = [0, 100, 300, 1000, 3000] as const
/**
 * If `leaseMs` is below this value, `ATTEMPT_MS` and `WAITS_MS` are reduced in proportion. Five attempts then fit into half of
 * the lease.
 */
const FULL_LEASE_MS = 30_000

export interface StoredDelivery {
  store: DeliveryStore
  key: string
  leaseMs: number
  onError(error: unknown, stage: WebhookErrorStage): void
}

/** A delivery that this receiver has claimed. */
export interface ClaimedDelivery extends StoredDelivery {
  token: string
  /** The time of `performance.now()` just before the claim was sent. The lease cannot have started earlier. */
  claimedAt: number
}

/**
 * Claims a delivery.
 *
 * @param onLateClaim - receives a promise that resolves when a late claim is released
 * @returns the answer of the store; `undefined` after a failure, which `onError` has received
 */
export async function claimDelivery(
  delivery: StoredDelivery,
  deadline: Deadline,
  onLateClaim: (released: Promise<void>) => void,
): Promise<{ claim: ClaimResult; claimedAt: number } | undefined> {
  const { store, key, leaseMs, onError } = delivery
  // A claim made after the deadline might not end before the service sends its last retry. That retry would then fail.
  if (deadline.passed) {
    onError(new Error('The deadline passed before the delivery could be claimed.'), 'claim')
    return undefined
  }
  const claimedAt = performance.now()
  const answer = (async () => requireClaim(await store.claim(key, leaseMs)))()
  try {
    const claim = await deadline.meet(answer)
    const hasExpired = performance.now() >= claimedAt + leaseMs
    if (claim !== LATE && !(claim.state === 'claimed' && hasExpired)) return { claim, claimedAt }
  } catch (error) {
    onError(error, 'claim')
    return undefined
  }
  onError(noAnswer('claim', Math.min(deadline.delayMs, leaseMs)), 'claim')
  onLateClaim(releaseLateClaim(answer, delivery))
  return undefined
}

async function releaseLateClaim(answer: Promise<ClaimResult>, delivery: StoredDelivery): Promise<void> {
  try {
    const claim = await answer
    if (claim.state === 'claimed') await releaseDelivery({ ...delivery, token: claim.token })
  } catch (error) {
    delivery.onError(error, 'claim')
  }
}

/** Extends the lease of a delivery. Returns false if the claim is lost. */
export async function extendLease({ store, key, token, leaseMs }: ClaimedDelivery): Promise<boolean> {
  return requireBoolean('extend', await store.extend(key, token, leaseMs))
}

/**
 * Records a delivery as done. Never rejects: `onError` receives a failure.
 *
 * @param onRetry - called before each retry
 */
export async function completeDelivery(
  { store, key, token, leaseMs, onError }: ClaimedDelivery,
  retainMs: number,
  onRetry: () => void,
): Promise<void> {
  try {
    const answer = await callWithRetries('complete', leaseMs, () => store.complete(key, token, retainMs), onRetry)
    if (requireBoolean('complete', answer)) return
    const message = 'The handler succeeded, but another receiver claimed the delivery: it may have been handled twice.'
    onError(new LeaseError('lease_lost', message), 'complete')
  } catch (error) {
    onError(error, 'complete')
  }
}

/**
 * Ends a claim. Never rejects: `onError` receives a failure, and the lease expires.
 *
 * @param onRetry - called before each retry
 */
export async function releaseDelivery(
  { store, key, token, leaseMs, onError }: Omit<ClaimedDelivery, 'claimedAt'>,
  onRetry: () => void = () => {},
): Promise<void> {
  try {
    await callWithRetries('release', leaseMs, () => store.release(key, token), onRetry)
  } catch (error) {
    onError(error, 'release')
  }
}

/**
 * Calls the store up to five times. A late answer of an earlier attempt counts too.
 *
 * @returns the first answer; rejects with the last failure
 */
async function callWithRetries(
  method: keyof DeliveryStore,
  leaseMs: number,
  call: () => Promise<unknown>,
  onRetry: () => void,
): Promise<unknown> {
  const scale = Math.min(1, leaseMs / FULL_LEASE_MS)
  const answers: unknown[] = []
  const attempt = async (): Promise<void> => {
    answers.push(await call())
  }
  let failure: unknown
  for (const waitMs of WAITS_MS) {
    if (waitMs > 0) {
      onRetry()
      await sleep(waitMs * scale)
    }
    if (answers.length > 0) break
    try {
      if (await settlesWithin(ATTEMPT_MS * scale, attempt())) break
      failure = noAnswer(method, ATTEMPT_MS * scale)
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
function requireBoolean(method: 'extend' | 'complete', answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw new TypeError(
    `The delivery store's ${method}() must resolve to true or false, and resolved to ${typeName(answer)}.`,
  )
}
