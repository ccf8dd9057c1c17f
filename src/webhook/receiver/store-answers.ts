import { typeName } from '../../shared/types.ts'
import type { ClaimResult, DeliveryStore } from '../stores/store.ts'

/*
 * A store of a partner's own may answer anything, one without types above all. What is no answer must be taken for
 * neither a yes nor a no, and named.
 */

/** @throws TypeError when it is none of what a store's `claim` may resolve to */
export function requireClaim(claim: ClaimResult): ClaimResult {
  const state: unknown = claim?.state
  if (state === 'done' || state === 'busy') return claim
  if (claim?.state === 'claimed' && typeof claim.token === 'string' && claim.token !== '') return claim
  throw new TypeError("The delivery store's claim() must resolve to { state: 'claimed', token }, 'done' or 'busy'.")
}

/** @throws TypeError when it is no boolean */
export function requireBoolean(method: 'extend' | 'complete', answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw new TypeError(
    `The delivery store's ${method}() must resolve to true or false, and resolved to ${typeName(answer)}.`,
  )
}

/** What `onError` is told of a store that is asked and stays silent. */
export const noAnswer = (method: keyof DeliveryStore, delayMs: number): Error =>
  new Error(`The delivery store's ${method}() did not answer within ${Math.round(delayMs)} ms.`)
