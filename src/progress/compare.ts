import { type TaskEntry, type UserProgress, userProgress } from '../endpoints/get-user-progress.ts'
import { InvalidRequestError } from '../errors.ts'
import { check } from '../schemas/check.ts'
import { isUserProgress } from '../schemas/compiled.ts'
import { capped, describeIssues, type Issues } from '../schemas/issue.ts'
import type { CompletionChange, ProgressChange, RewardChange, XpFigures } from './change.ts'

/**
 * What is new in a user's progress between two readings, for instance last night's and tonight's: the completions that
 * no webhook told of, because the receiver was down until the service had given up. Pure: it sends nothing, keeps nothing
 * and changes neither reading.
 *
 * ```ts
 * const after = await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
 * for (const change of progressChanges(before, after)) {
 *   if (change.kind === 'task_completed') console.log(change.id)
 * }
 * ```
 *
 * The changes come in this order: completed tasks, quests and challenges and earned rewards, each in the order of
 * `after`; then at most one each of `xp_changed`, `rank_changed` and `team_changed`. No change comes twice, also
 * where a list holds an ID twice.
 *
 * - Completed is what has the status `'completed'`, whatever it had before; any other status is not. An entry that was not
 *   in `before` counts as not completed there.
 * - Rewards are told apart by `id`.
 * - What is no longer completed, or no longer there, is not a change that these kinds speak of.
 *
 * The same two readings give the same changes each time, so one process that stores each reading together with what it
 * made of the changes, in one transaction, sees each change once. Where a completion can also come another way, by
 * webhook, count it under a key made of your user, the campaign, `kind` and `id`. A task that recurs has the same `id` each
 * time, and a reading does not say how often it was done: those can't be told from two readings.
 *
 * Interface: [User progress](/the-service#user-progress).
 *
 * @param before - the earlier reading, as `getUserProgress` gave it, or parsed from where it was stored. `undefined` or
 *   `null` for a user who has none yet: the first reading is a baseline and gives no changes
 * @param after - the later reading of the same user in the same campaign
 * @throws InvalidRequestError when a reading does not have the shape of {@link UserProgress}, or the two are of different
 *   entries (`id`): of two users, or of two campaigns. Its `issues` start with `'before'` or `'after'`
 */
export function progressChanges(before: UserProgress | null | undefined, after: UserProgress): ProgressChange[] {
  const earlier = before === undefined || before === null ? undefined : read('before', before)
  const later = read('after', after)
  if (earlier === undefined) return []
  if (earlier.id !== later.id) {
    const message = 'must be that of before: these are two users or two campaigns'
    throw unusable(capped([{ path: ['after', 'id'], message }]))
  }
  return [
    ...completions('task_completed', earlier.actions, later.actions),
    ...completions('quest_completed', earlier.quests, later.quests),
    ...completions('challenge_completed', earlier.challenges, later.challenges),
    ...rewards(earlier, later),
    ...figures(earlier, later),
  ]
}

function read(name: 'before' | 'after', reading: unknown): UserProgress {
  const checked = check<UserProgress>(userProgress, reading, [name], isUserProgress)
  if (!checked.ok) throw unusable(checked)
  return checked.value
}

function completions(
  kind: CompletionChange['kind'],
  before: readonly TaskEntry[],
  after: readonly TaskEntry[],
): CompletionChange[] {
  const isCompleted = ({ status }: TaskEntry) => status === 'completed'
  return additions(before.filter(isCompleted), after.filter(isCompleted)).map(({ id, name, xp, xp_mul }) => ({
    kind,
    id,
    name,
    xp,
    xp_mul,
  }))
}

const rewards = (before: UserProgress, after: UserProgress): RewardChange[] =>
  additions(before.rewards, after.rewards).map(({ id, reward, type }) => ({ kind: 'reward_earned', id, reward, type }))

/** The first entry of each ID that `before` has none of. */
function additions<Entry extends { id: string }>(before: readonly Entry[], after: readonly Entry[]): Entry[] {
  const seen = new Set(before.map(({ id }) => id))
  return after.filter(({ id }) => !seen.has(id) && seen.add(id))
}

function figures(before: UserProgress, after: UserProgress): ProgressChange[] {
  const changes: ProgressChange[] = []
  const xp = { before: xpOf(before), after: xpOf(after) }
  if (XP_FIGURES.some((name) => xp.before[name] !== xp.after[name])) changes.push({ kind: 'xp_changed', ...xp })
  if (before.rank !== after.rank) changes.push({ kind: 'rank_changed', before: before.rank, after: after.rank })
  if (before.team !== after.team) changes.push({ kind: 'team_changed', before: before.team, after: after.team })
  return changes
}

const XP_FIGURES = ['total', 'xp', 'ref_xp', 'ugc_xp'] as const

const xpOf = ({ total, xp, ref_xp, ugc_xp }: UserProgress): XpFigures => ({ total, xp, ref_xp, ugc_xp })

/** A stored list can be wrong in every entry; the message names the first few. */
const NAMED = 5

function unusable(wrong: Issues): InvalidRequestError {
  const what = describeIssues(wrong, NAMED, ({ path, message }) => `${path.join('.')} ${message}`)
  return new InvalidRequestError(`progressChanges: ${what}`, wrong)
}
