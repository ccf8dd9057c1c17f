import type { DeliveryStore } from '../stores/store.ts'
import { noAnswer } from './store-answers.ts'
import { settles, sleep } from './timer.ts'

/** How long an attempt is waited for, and the waits between attempts: for leases of 30 s and more. */
const PATIENCE_MS = 2000
const WAITS_MS = [0, 100, 300, 1000, 3000] as const
/** With a shorter lease all of these are shorter, so that five attempts are made while half of it is left. */
const FULL_LEASE_MS = 30_000

/**
 * Asks the store to record or release a delivery, five times if need be. An attempt that hangs is not waited for, but
 * its answer counts whenever it comes.
 *
 * @param onFirstAttempt - called when the first attempt failed or was waited for long enough
 * @returns the first answer; rejects with the last failure
 */
export async function insist(
  method: keyof DeliveryStore,
  leaseMs: number,
  ask: () => Promise<unknown>,
  onFirstAttempt: () => void,
): Promise<unknown> {
  const share = Math.min(1, leaseMs / FULL_LEASE_MS)
  const answers: unknown[] = []
  const attempt = async (): Promise<void> => {
    answers.push(await ask())
  }
  let failure: unknown
  for (const waitMs of WAITS_MS) {
    if (waitMs > 0) {
      onFirstAttempt()
      await sleep(waitMs * share)
    }
    if (answers.length > 0) break
    try {
      if (await settles(PATIENCE_MS * share, attempt())) break
      failure = noAnswer(method, PATIENCE_MS * share)
    } catch (error) {
      failure = error
    }
  }
  if (answers.length === 0) throw failure
  return answers[0]
}
