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
