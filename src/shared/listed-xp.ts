/** An entry of `rewards` in a progress. */
interface Listed {
  readonly id: string
  readonly type: string
  readonly reward: string
}

/** Returns the XP of each listed reward with an id; NaN for a reward that shows none. The service may list an id twice. */
export const listedXp = (rewards: readonly Listed[], id: string): readonly number[] =>
  rewards
    .filter((each) => each.id === id)
    .map(({ type, reward }) => (type === 'xp' && reward.trim() !== '' ? Number(reward) : Number.NaN))
