import { comparableAddress } from './wallet-address.ts'

/** The fields of an award, without its id. */
interface AwardFields {
  readonly address: string
  readonly pid: string
  readonly xp: number
}

/** Returns a key that is the same for awards with the same address, campaign and XP. */
export const awardKey = ({ address, pid, xp }: AwardFields): string =>
  JSON.stringify([comparableAddress(address), pid, xp])

/** Returns a key that is the same for awards of the same wallet in the same campaign. */
export const walletKey = ({ address, pid }: Pick<AwardFields, 'address' | 'pid'>): string =>
  JSON.stringify([comparableAddress(address), pid])

/** Whether two awards with the same id are the same award. The letter case of an address makes no difference. */
export const isSameAward = (one: AwardFields, other: AwardFields): boolean => awardKey(one) === awardKey(other)

/** The number of significant decimal digits that a JavaScript number can always represent. */
export const MAX_DIGITS = 15

/**
 * Adds decimals: the sum of 0.1 and 0.2 is 0.3. Rounds the sum to {@link MAX_DIGITS} digits, so that the
 * errors of binary fractions do not accumulate.
 */
export function addDecimals(one: number, other: number): number {
  const sum = one + other
  return Number.isInteger(sum) ? sum : Number(sum.toPrecision(MAX_DIGITS))
}

/** A number of awards, and their XP. */
export interface Sum {
  readonly awards: number
  readonly xp: number
}

export const NO_AWARDS: Sum = { awards: 0, xp: 0 }

export const addSums = (one: Sum, other: Sum): Sum => ({
  awards: one.awards + other.awards,
  xp: addDecimals(one.xp, other.xp),
})

/** Adds one award to a sum. */
export const addAward = (sum: Sum, { xp }: { readonly xp: number }): Sum => addSums(sum, { awards: 1, xp })

/** An entry of `rewards` in a progress. */
interface Listed {
  readonly id?: unknown
  readonly type?: unknown
  readonly reward?: unknown
}

/** Returns the XP of each listed reward with an id; NaN for a reward that shows none. The service may list an id twice. */
export const listedXp = (rewards: readonly Listed[], id: string): readonly number[] =>
  rewards.filter((each) => each.id === id).map(({ type, reward }) => (type === 'xp' ? numberIn(reward) : Number.NaN))

/** What a progress shows about an award. `foundXp` is absent if the progress shows no amount. */
export type AwardFinding =
  | { readonly found: 'not_listed'; readonly foundXp?: never }
  | { readonly found: 'same_amount' | 'other_amount'; readonly foundXp?: number }

/** Looks for an award in a progress. @param amounts - `false` if rewards show no amounts: the id alone shows the award */
export function findAward(
  rewards: readonly Listed[],
  { id, xp }: { readonly id: string; readonly xp: number },
  amounts: boolean | undefined,
): AwardFinding {
  const listed = listedXp(rewards, id)
  if (listed.length === 0) return { found: 'not_listed' }
  if (amounts === false) return { found: 'same_amount' }
  if (listed.includes(xp)) return { found: 'same_amount', foundXp: xp }
  const foundXp = listed.find(Number.isFinite)
  return { found: 'other_amount', ...(foundXp !== undefined && { foundXp }) }
}

/** The API description has text. A service that differs may send a number. */
const numberIn = (value: unknown): number =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : Number.NaN

export const FINAL_VERDICTS = ['awarded', 'alreadyAwarded', 'unconfirmed', 'rejected'] as const

/** The verdicts of awards, in the order of the summaries. */
export const VERDICTS = [...FINAL_VERDICTS, 'indeterminate'] as const

/** Whether the verdict ends the award. */
export const isFinal = (verdict: string): verdict is (typeof FINAL_VERDICTS)[number] => verdict !== 'indeterminate'

/** Whether the award was made. */
export const isAwarded = (verdict: string): verdict is 'awarded' | 'alreadyAwarded' =>
  verdict === 'awarded' || verdict === 'alreadyAwarded'

/** Whether the award may or may not have been made. */
export const isUnknown = (verdict: string): boolean => verdict === 'indeterminate' || verdict === 'unconfirmed'

/**
 * Whether `retryRejected` sends an award with this result again. An id that was used with another amount is never sent
 * again.
 */
export const isRetryableRejection = (verdict: string, failure: { readonly code: string } | undefined): boolean =>
  verdict === 'rejected' && failure?.code !== 'other_amount'

/** The failure code of an award that was made, but by no attempt of its ledger. */
export const USED_BEFORE = 'used_before'

/** Whether an award was made, but by no attempt of its ledger. */
export const isUsedBefore = (verdict: string, failure: { readonly code: string } | undefined): boolean =>
  verdict === 'alreadyAwarded' && failure?.code === USED_BEFORE

/** The longest time to wait for a service that stops responding: 24 hours. */
export const MAX_PATIENCE_MS = 24 * 60 * 60 * 1_000
