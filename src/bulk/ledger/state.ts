import type { FinalVerdict, Verdict } from '../award/verdict.ts'

/** One byte: the final verdict in the low three bits, if there is one, and these. */
export const BOUND = 8
/** An intent without an end yet. */
export const PENDING = 16
/** There was an attempt whose end nobody knows. */
export const DOUBT = 32
/** The id was met in this run. */
export const SEEN = 64

const VERDICT = 7
const FINAL: readonly FinalVerdict[] = ['awarded', 'alreadyAwarded', 'unconfirmed', 'rejected']

/** The final verdict of an entry, if it has one. */
export const verdictOf = (state: number): FinalVerdict | undefined => FINAL[(state & VERDICT) - 1]

/** A new attempt. One that was pending until now has had no end that anybody knows. */
export const afterIntent = (state: number): number =>
  ((state & PENDING) === 0 ? state : inDoubt(state)) | BOUND | PENDING

/** The attempt certainly changed nothing: back to what was before it. */
export function afterRelease(state: number): number {
  const before = state & ~PENDING
  return (before & (DOUBT | VERDICT)) === 0 ? before & ~BOUND : before
}

export function afterVerdict(state: number, verdict: Verdict): number {
  if (verdict === 'indeterminate') return inDoubt(state)
  // "Rejected" says that there is no doubt: the award has not been made.
  const settled = state & ~(PENDING | VERDICT | (verdict === 'rejected' ? DOUBT : 0))
  return settled | BOUND | (FINAL.indexOf(verdict) + 1)
}

/** An attempt was cut off by the end of its process. */
export const afterCrash = (state: number): number => ((state & PENDING) === 0 ? state : inDoubt(state))

const inDoubt = (state: number): number => (state & ~(PENDING | VERDICT)) | DOUBT
