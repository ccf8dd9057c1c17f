import { type Campaign, type Entry, finiteXp } from './campaign.ts'
import { type Challenge, type Quest, requiredTasks, type Task } from './campaign-definition.ts'
import type { AwardRecord } from './state.ts'

/** A task or quest that was just completed, and the XP it gave. */
type Completion =
  | { readonly kind: 'action_completed'; readonly item: Task; readonly xp: number }
  | { readonly kind: 'quest_completed'; readonly item: Quest; readonly xp: number }

interface EventOrigin {
  readonly campaign: Campaign
  readonly entry: Entry
  /** The account that the request named. The user may have been registered with another one. */
  readonly account: string
}

/** An event of a user that is sent to webhooks. */
export type UserEvent =
  | (EventOrigin & Completion)
  | (EventOrigin & { readonly kind: 'reward_claimed'; readonly award: AwardRecord })

/** Returns the dependencies that the user has not completed. */
export const missingDependencies = (deps: readonly string[], entry: Entry): string[] =>
  deps.filter((id) => !entry.completed.has(id))

/**
 * Completes a task for a user, with everything that follows: XP for the referrer, then quests and challenges, then items
 * that depend on those. A task that counts once and is already completed changes nothing.
 */
export function completeTask(campaign: Campaign, entry: Entry, task: Task): readonly Completion[] {
  if (entry.completed.has(task.id) && task.recurrence === 'once') return []
  const completions: Completion[] = [{ kind: 'action_completed', item: task, xp: award(campaign, entry, task) }]
  const { referrer } = entry
  if (referrer) campaign.update(referrer, { ref_xp: finiteXp(referrer.ref_xp + task.ref_xp) })
  completions.push(...completeWhatFollows(campaign, entry))
  return completions
}

/** A quest or challenge that is not completed, and how many of its dependencies are missing. */
interface Follower {
  readonly item: Quest | Challenge
  missing: number
}

function completeWhatFollows(campaign: Campaign, entry: Entry): readonly Completion[] {
  const ready: Follower[] = []
  // Each item is visited once per dependency, so a long chain takes linear time in any order.
  const waiting = new Map<string, Follower[]>()
  for (const { item, needed } of whatMayFollow(campaign)) {
    if (entry.completed.has(item.id)) continue
    const missing = missingDependencies(needed, entry)
    const follower = { item, missing: missing.length }
    if (missing.length === 0) ready.push(follower)
    for (const id of missing) {
      const others = waiting.get(id)
      if (others) others.push(follower)
      else waiting.set(id, [follower])
    }
  }
  const completions: Completion[] = []
  for (const { item } of ready) {
    const xp = award(campaign, entry, item)
    if ('actions' in item) completions.push({ kind: 'quest_completed', item, xp })
    // The loop goes on over the items that are added here.
    for (const follower of waiting.get(item.id) ?? []) if (--follower.missing === 0) ready.push(follower)
  }
  return completions
}

function* whatMayFollow({ definition }: Campaign): Iterable<{ item: Quest | Challenge; needed: readonly string[] }> {
  const { tasks, quests, challenges } = definition
  for (const item of quests.values()) yield { item, needed: [...item.deps, ...requiredTasks(item.actions, tasks)] }
  for (const item of challenges.values()) if (item.deps.length > 0) yield { item, needed: item.deps }
}

/**
 * Completes an item and gives its XP. The user's multiplier applies on top of the item's, and XP stays finite (both
 * assumed).
 */
function award(campaign: Campaign, entry: Entry, item: Task | Quest | Challenge): number {
  const xp = finiteXp(finiteXp(item.xp * item.xp_mul) * entry.xp_mul)
  campaign.complete(entry, item.id)
  campaign.update(entry, { xp: finiteXp(entry.xp + xp) })
  return xp
}
