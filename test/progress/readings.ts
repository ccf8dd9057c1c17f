import type { ProgressChange, UserProgress } from 'campaign-client'
import fc from 'fast-check'

/** Few, so that two readings share some, and lists hold some twice; among them the names of inherited properties. */
const id = fc.constantFrom('follow', 'share', 'visit', '', '__proto__', 'constructor', 'toString')
// No -0: the text of JSON that a service writes has none, and 0 is no change of it.
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

/** Readings of one user in one campaign, as far as the interface limits them: anything may follow upon anything. */
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

/** What the kinds of change speak of. */
export interface Standing {
  completed: Set<string>
  xp: { total: number; xp: number; ref_xp: number; ugc_xp: number }
  rank: number
  team: string
}

/** The standing that a reading shows. */
export function standingOf({ total, xp, ref_xp, ugc_xp, rank, team, ...lists }: UserProgress): Standing {
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

/** What a change is about: the same for two changes of which one would be too many. */
export const subjectOf = (change: ProgressChange): string =>
  'id' in change ? `${change.kind} ${change.id}` : change.kind

/** A standing after the changes. */
export function applied(changes: readonly ProgressChange[], before: Standing): Standing {
  const after = { ...before, completed: new Set(before.completed) }
  for (const change of changes) {
    if (change.kind === 'xp_changed') after.xp = change.after
    else if (change.kind === 'rank_changed') after.rank = change.after
    else if (change.kind === 'team_changed') after.team = change.after
    else after.completed.add(subjectOf(change))
  }
  return after
}
