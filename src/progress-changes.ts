import { type TaskEntry, type UserProgress, userProgress } from './endpoints/get-user-progress.ts'
import { InvalidRequestError } from './errors/client-errors.ts'
import { validate } from './schemas/validate.ts'
import { capped, describeIssues, type Issues } from './shared/issue.ts'

/** A task, quest or challenge that is completed in the later reading but not in the earlier reading. */
export interface CompletionChange {
  /** Identifies the type of the change. */
  kind: 'task_completed' | 'quest_completed' | 'challenge_completed'
  /** ID of the task, quest or challenge. `kind` and `id` are the same in every reading that shows the completion. */
  id: string
  /** Display name. */
  name: string
  /** Base reward in XP, before the multipliers. A reading does not show how much XP the user received. */
  xp: number
  /** Multiplier of the task, quest or challenge; 1 changes nothing. */
  xp_mul: number
}

/** A reward whose ID is not in the earlier reading. */
export interface RewardChange {
  /** Identifies the type of the change. */
  kind: 'reward_earned'
  /** Reward ID. It is the same in every reading that shows the reward. */
  id: string
  /** Identifier or value of the reward. */
  reward: string
  /** Type of the reward. The API description lists no values. */
  type: string
}

/** The XP of a reading, by source. */
export interface XpFigures {
  /** Total XP from all sources. */
  total: number
  /** Base XP from tasks and activities. */
  xp: number
  /** XP from referrals. */
  ref_xp: number
  /** XP from user-generated content. */
  ugc_xp: number
}

/** At least one of the four XP numbers changed. A number can be lower than before. */
export interface XpChange {
  /** Identifies the type of the change. */
  kind: 'xp_changed'
  /** The XP in the earlier reading. */
  before: XpFigures
  /** The XP in the later reading. */
  after: XpFigures
}

/** The user's rank in the campaign changed. The XP of other users can also change a rank. */
export interface RankChange {
  /** Identifies the type of the change. */
  kind: 'rank_changed'
  /** The rank in the earlier reading. */
  before: number
  /** The rank in the later reading. */
  after: number
}

/** The user's team changed. An empty string means no team. */
export interface TeamChange {
  /** Identifies the type of the change. */
  kind: 'team_changed'
  /** The team in the earlier reading. */
  before: string
  /** The team in the later reading. */
  after: string
}

/** A change between two readings of a user's progress. `kind` distinguishes the types. */
export type ProgressChange = CompletionChange | RewardChange | XpChange | RankChange | TeamChange

/**
 * Returns the changes between two readings of a user's progress. It finds completions that no webhook reported, for
 * instance because the receiver was down. It sends nothing, stores nothing and changes neither reading.
 *
 * The changes are in this order: completed tasks, quests, challenges and earned rewards, each in the order of `after`;
 * then at most one each of `xp_changed`, `rank_changed` and `team_changed`. No change is returned twice, even if a list
 * contains an ID twice.
 *
 * - An entry is completed if its status is `'completed'`. An entry that is not in `before` counts as not completed there.
 * - Rewards are compared by `id`.
 * - Nothing is returned for an entry that is no longer completed or no longer listed.
 *
 * The same two readings always give the same changes. To process each change once, store a reading and the effects of its
 * changes in one transaction. If webhooks also report completions, deduplicate them by user, campaign, `kind` and `id`. A
 * reading does not show how often a recurring task was completed.
 *
 * See "User progress" in docs/the-service.md.
 *
 * @param before - the earlier reading: the result of `getUserProgress`, or a stored copy. With `undefined` or `null` the
 *   result is empty: the first reading is a baseline
 * @param after - the later reading of the same user in the same campaign
 * @throws InvalidRequestError when a reading does not have the shape of {@link UserProgress}, or when the `id` of the
 *   readings differs, because they belong to two users or two campaigns. The paths of its `issues` start with `'before'` or
 *   `'after'`
 *
 * @example
 * ```ts
 * const after = await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
 * for (const change of progressChanges(before, after)) {
 *   if (change.kind === 'task_completed') console.log(change.id)
 * }
 * ```
 */
export function progressChanges(before: UserProgress | null | undefined, after: UserProgress): ProgressChange[] {
  const earlier = before === undefined || before === null ? undefined : read('before', before)
  const later = read('after', after)
  if (earlier === undefined) return []
  if (earlier.id !== later.id) {
    const message = 'must equal the id of before; the readings belong to two users or two campaigns'
    throw invalidReading(capped([{ path: ['after', 'id'], message }]))
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
  const checked = validate<UserProgress>(userProgress, reading, [name])
  if (!checked.ok) throw invalidReading(checked)
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

/** Returns the first entry of each ID that is not in `before`. */
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

const MAX_ISSUES_IN_MESSAGE = 5

function invalidReading(found: Issues): InvalidRequestError {
  const text = describeIssues(found, MAX_ISSUES_IN_MESSAGE, ({ path, message }) => `${path.join('.')} ${message}`)
  return new InvalidRequestError(`progressChanges: ${text}`, found)
}
