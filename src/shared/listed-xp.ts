/** An entry of `rewards` in a progress. */
interface Listed {
  readonly id?: unknown
  readonly type?: unknown
  readonly reward?: unknown
}

/** Returns the XP of each listed reward with an id; NaN for a reward that shows none. The service may list an id twice. */
export const listedXp = (rewards: readonly Listed[], id: string): readonly number[] =>
  rewards.filter((each) => each.id === id).map(({ type, reward }) => (type === 'xp' ? numberIn(reward) : Number.NaN))

/** The API description has text. A service that differs may send a number. */
const numberIn = (value: unknown): number =>
  typeof value === 'number' || (typeof value === 'string' && value.trim() !== '') ? Number(value) : Number.NaN
