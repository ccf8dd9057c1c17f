import type { ProgressChange, UserProgress } from 'campaign-client'
import fc from 'fast-check'

/** Few values, so that readings and lists repeat some. They include the names of inherited properties. */
const id = fc.constantFrom('follow', 'share', 'visit', '', '__proto__', 'constructor', 'toString')
// Without -0, which JSON does not have.
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
export function stateOf({ total, xp, ref_xp, ugc_xp, rank, team, ...lists }: UserProgress): ProgressState {
  const done = (kind: string, entries: readonly { id: string; status: string }[]) =>
    entries.filter(({ status }) => status === 'completed').map((entry) => `${kind} ${entry.id}`)
  return {
    completed: new Set([
      ...done('task_completed', lists.actions),
      ...done('quest_completed', lists.quests),
      ...done('challenge_completed', lists.challenges),
      ...lists.rewards.map((reward) => `reward_earned ${reward.id}`),
    ]),
    xp: { total, xp, ref_xp, ugc_xp },
    rank,
    team,
  }
}

/** Returns the subject of a change. Each subject may appear once in a list of changes. */
export const subjectOf = (change: ProgressChange): string =>
  'id' in change ? `${change.kind} ${change.id}` : change.kind

/** Returns the state after the changes. */
export function applied(changes: readonly ProgressChange[], before: ProgressState): ProgressState {
  const after = { ...before, completed: new Set(before.completed) }
  for (const change of changes) {
    if (change.kind === 'xp_changed') after.xp = change.after
    else if (change.kind === 'rank_changed') after.rank = change.after
    else if (change.kind === 'team_changed') after.team = change.after
    else after.completed.add(subjectOf(change))
  }
  return after
}
