import { sha256Hex } from '#hmac'
import type { ClaimResult, DeliveryStore } from '../stores/store.ts'
import { insist } from './bookkeeping.ts'
import { type Deadline, LATE } from './deadline.ts'
import type { WebhookErrorStage } from './options.ts'
import type { Outstanding } from './outstanding.ts'
import { noAnswer, requireClaim } from './store-answers.ts'
import { monotonicNow } from './timer.ts'

/** Short enough for the index of any database, also when every character takes three bytes. */
const MAX_KEY_LENGTH = 512

/**
 * The key under which a delivery is remembered: the endpoint and the id of the message.
 *
 * JSON keeps the two apart whatever they contain, and escapes what some databases refuse in a text (NUL, lone
 * surrogates). A key that would be too long is replaced by its digest; the three elements keep it from being equal to
 * any other key.
 */
export function deliveryKey(endpoint: string, id: string): string {
  const key = JSON.stringify([endpoint, id])
  return key.length <= MAX_KEY_LENGTH ? key : JSON.stringify(['', 'digest', sha256Hex(key)])
}

/** What is to be claimed, and who is told when that makes trouble. */
export interface Claimable {
  store: DeliveryStore
  key: string
  leaseMs: number
  onError(error: unknown, stage: WebhookErrorStage): void
}

/** A claim that was made. */
export interface HeldClaim extends Claimable {
  token: string
  /** When the store was asked for it, on the monotonic clock: its lease cannot have begun earlier. */
  claimedAt: number
}

/**
 * Asks the store for a delivery.
 *
 * @param work - what `close()` waits for: a claim on its way may come through, and has to be released then
 * @returns `undefined` when the store failed or came too late, which was reported
 */
export async function claimDelivery(
  claimable: Claimable,
  deadline: Deadline,
  work: Outstanding,
): Promise<{ claim: ClaimResult; claimedAt: number } | undefined> {
  const { store, key, leaseMs, onError } = claimable
  // A claim that is not made in time must not be made later: it could outlive the pause before the last retry.
  if (deadline.passed) {
    onError(new Error('The time of the request was up before the delivery store could be asked.'), 'claim')
    return undefined
  }
  const claimedAt = monotonicNow()
  const asked = (async () => requireClaim(await store.claim(key, leaseMs)))()
  work.begin()
  try {
    const claim = await deadline.meet(asked)
    // Past its lease a claim is nobody's: the next attempt may be handled elsewhere already.
    const isHeld = monotonicNow() < claimedAt + leaseMs
    if (claim !== LATE && (isHeld || claim.state !== 'claimed')) {
      work.end()
      return { claim, claimedAt }
    }
  } catch (error) {
    work.end()
    onError(error, 'claim')
    return undefined
  }
  onError(noAnswer('claim', Math.min(deadline.delayMs, leaseMs)), 'claim')
  void giveBack(asked, claimable, work)
  return undefined
}

/** Releases a claim that may still come through. */
async function giveBack(asked: Promise<ClaimResult>, claimable: Claimable, work: Outstanding): Promise<void> {
  try {
    const claim = await asked
    if (claim.state === 'claimed') await releaseClaim({ ...claimable, token: claim.token })
  } catch (error) {
    claimable.onError(error, 'claim')
  } finally {
    work.end()
  }
}

/**
 * Ends a claim. Never rejects: what fails is reported, and the claim lapses.
 *
 * @param onFirstAttempt - as for `insist`
 */
export async function releaseClaim(
  { store, key, token, leaseMs, onError }: Omit<HeldClaim, 'claimedAt'>,
  onFirstAttempt: () => void = () => {},
): Promise<void> {
  try {
    await insist('release', leaseMs, () => store.release(key, token), onFirstAttempt)
  } catch (error) {
    onError(error, 'release')
  }
}
