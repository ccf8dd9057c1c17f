import type { ProgressChange, UserProgress } from 'campaign-client'
import fc from 'fast-check'

/** A few values, so that readings and lists have some in common. They include the names of inherited properties. */
const id = fc.constantFrom('follow', 'share', 'visit', '', '__proto__', 'constructor', 'toString')
// Adding 0 changes -0 to 0, because JSON has no -0.
const number = fc
  .oneof(fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => value + 0)

const entry = {
  id,
  name: fc.string(),
  xp: number,
  xp_mul: number,
  meta: fc.option(fc.dictionary(fc.string(), fc.jsonValue())),
  status: fc.constantFrom('none', 'completed', 'Completed', 'expired'),
}
const items = fc.array(fc.record(entry), { maxLength: 6 })

/** Any reading of one user in one campaign that the interface allows. */
export const reading: fc.Arbitrary<UserProgress> = fc.record({
  id: fc.constant('entry-1'),
  user_id: fc.constant('ada'),
  name: fc.string(),
  actions: items,
  quests: fc.array(fc.record({ ...entry, actions: fc.array(id, { maxLength: 3 }) }), { maxLength: 6 }),
  challenges: items,
  rewards: fc.array(fc.record({ id, reward: fc.string(), type: fc.string() }), { maxLength: 6 }),
  total: number,
  xp: number,
  ref_xp: number,
  ugc_xp: number,
  xp_mul: number,
  rank: number,
  team: fc.constantFrom('', 'analysts', 'kernel'),
})

/** The part of a reading that changes describe. */
export interface ProgressState {
  completed: Set<string>
  xp: { total: number; xp: number; ref_xp: number; ugc_xp: number }
  rank: number
  team: string
}

/** Returns the state of a reading. */
export function describedState({ total, xp, ref_xp, ugc_xp, rank, team, ...lists }: UserProgress): ProgressState {
  const completed = (kind: string, entries: readonly { id: string; status: string }[]) =>
    entries.filter(({ status }) => status === 'completed').map((entry) => `${kind} ${entry.id}`)
  return {
    completed: new Set([
      ...completed('task_completed', lists.actions),
      ...completed('quest_completed', lists.quests),
      ...completed('challenge_completed', lists.challenges),
      ...lists.rewards.map((reward) => `reward_earned ${reward.id}`),
    ]),
    xp: { total, xp, ref_xp, ugc_xp },
    rank,
    team,
  }
}

/** Returns the kind of a change and its ID. Each pair may appear once in a list of changes. */
export const kindAndId = (change: ProgressChange): string =>
  'id' in change ? `${change.kind} ${change.id}` : change.kind

/** Returns the state after the changes. */
export function stateAfter(changes: readonly ProgressChange[], before: ProgressState): ProgressState {
  const after = { ...before, completed: new Set(before.completed) }
  for (const change of changes) {
    if (change.kind === 'xp_changed') after.xp = change.after
    else if (change.kind === 'rank_changed') after.rank = change.after
    else if (change.kind === 'team_changed') after.team = change.after
    else after.completed.add(kindAndId(change))
  }
  return after
}
