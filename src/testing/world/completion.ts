import type { Campaign, Entry } from './campaign.ts'
import { type Challenge, type Quest, requiredTasks, type Task } from './campaign-definition.ts'
import { finiteXp } from './xp.ts'

/** A task or quest completed just now, and the XP it gave. */
export type Completion =
  | { readonly kind: 'action_completed'; readonly item: Task; readonly xp: number }
  | { readonly kind: 'quest_completed'; readonly item: Quest; readonly xp: number }

/** The IDs an item waits for. */
export const missingDependencies = (deps: readonly string[], entry: Entry): string[] =>
  deps.filter((id) => !entry.completed.has(id))

/**
 * Completes a task for a user, and whatever follows from it: XP for the referrer, quests, challenges, and quests that
 * waited for those. A task that is done already and counts once changes nothing.
 */
export function completeTask(campaign: Campaign, entry: Entry, task: Task): readonly Completion[] {
  if (entry.completed.has(task.id) && task.recurrence === 'once') return []
  const completions: Completion[] = [{ kind: 'action_completed', item: task, xp: award(campaign, entry, task) }]
  const { referrer } = entry
  if (referrer) campaign.update(referrer, { ref_xp: finiteXp(referrer.ref_xp + task.ref_xp) })
  completions.push(...completeWhatFollows(campaign, entry))
  return completions
}

function completeWhatFollows(campaign: Campaign, entry: Entry): readonly Completion[] {
  const { tasks, quests, challenges } = campaign.definition
  const completions: Completion[] = []
  for (let before = -1; before !== entry.completed.size; ) {
    before = entry.completed.size
    for (const quest of quests.values()) {
      if (entry.completed.has(quest.id)) continue
      const needed = [...quest.deps, ...requiredTasks(quest.actions, tasks)]
      if (missingDependencies(needed, entry).length > 0) continue
      completions.push({ kind: 'quest_completed', item: quest, xp: award(campaign, entry, quest) })
    }
    for (const challenge of challenges.values()) {
      if (entry.completed.has(challenge.id) || challenge.deps.length === 0) continue
      if (missingDependencies(challenge.deps, entry).length === 0) award(campaign, entry, challenge)
    }
  }
  return completions
}

/**
 * Completes an item and gives its XP. The user's multiplier applies on top of the item's, and no XP goes beyond what a
 * number can hold (both assumed).
 */
function award(campaign: Campaign, entry: Entry, item: Task | Quest | Challenge): number {
  const xp = finiteXp(finiteXp(item.xp * item.xp_mul) * entry.xp_mul)
  campaign.complete(entry, item.id)
  campaign.update(entry, { xp: finiteXp(entry.xp + xp) })
  return xp
}
