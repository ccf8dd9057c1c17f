import type { ConfigurationError } from '../../errors/client-errors.ts'
import { configurationError, type OptionRules, readOptions } from '../../errors/option-checks.ts'
import { mustBeIdentifier } from '../option-readers.ts'
import { type Challenge, type Entry, earnedXp, finiteXp, type Quest, requiredTasks, type Task } from './campaign.ts'
import {
  describeEntry,
  ENTRY_RULES,
  type EntryOptions,
  type EntrySnapshot,
  type ServiceState,
} from './service-state.ts'

/** Options of `service.completeTask`. */
export interface CompleteTaskOptions extends EntryOptions {
  /** Task ID. */
  aid: string
}

const COMPLETE_TASK: OptionRules<CompleteTaskOptions> = { ...ENTRY_RULES, aid: mustBeIdentifier }

/** Implements `service.completeTask`. */
export function completeTaskByOptions(given: CompleteTaskOptions, state: ServiceState): EntrySnapshot {
  const options = readOptions('completeTask', given, COMPLETE_TASK)
  const { account, aid, pid } = options
  const entry = state.requireEntry('completeTask', options)
  const task = entry.campaign.definition.tasks.get(aid)
  if (!task) throw refusal(`there is no task "${aid}" in "${pid}"`)
  const missing = missingDependencies(task.deps, entry)
  if (missing.length > 0) {
    throw refusal(`the dependencies of "${aid}" are not completed: ${missing.join(', ')}`)
  }
  completeTask(entry, task, account, state)
  return describeEntry(entry)
}

const refusal = (message: string): ConfigurationError =>
  configurationError('completeTask', [{ path: ['aid'], message }])

/** Returns the dependencies that the user has not completed. */
export const missingDependencies = (deps: readonly string[], entry: Entry): string[] =>
  deps.filter((id) => !entry.completed.has(id))

/**
 * Completes a task for a user, adds the referrer's XP, and completes the quests and challenges whose dependencies
 * are then complete. A completed task with `recurrence: 'once'` changes nothing.
 */
export function completeTask(entry: Entry, task: Task, account: string, state: ServiceState): void {
  if (entry.completed.has(task.id) && task.recurrence === 'once') return
  state.recordEvent({ kind: 'action_completed', entry, account, item: task, xp: complete(entry, task) })
  const { referrer, campaign } = entry
  if (referrer) campaign.update(referrer, { ref_xp: finiteXp(referrer.ref_xp + task.ref_xp) })

  const { tasks, quests, challenges } = campaign.definition
  const dependents = [
    ...[...quests.values()].map((item) => ({ item, needed: [...item.deps, ...requiredTasks(item.actions, tasks)] })),
    ...[...challenges.values()].filter(({ deps }) => deps.length > 0).map((item) => ({ item, needed: item.deps })),
  ]
  for (let isDone = false; !isDone; ) {
    isDone = true
    for (const { item, needed } of dependents) {
      if (entry.completed.has(item.id) || missingDependencies(needed, entry).length > 0) continue
      const xp = complete(entry, item)
      const quest = quests.get(item.id)
      if (quest) state.recordEvent({ kind: 'quest_completed', entry, account, item: quest, xp })
      isDone = false
    }
  }
}

/** Completes an item and returns its XP. */
function complete(entry: Entry, item: Task | Quest | Challenge): number {
  const { campaign } = entry
  const xp = earnedXp(item, entry)
  campaign.complete(entry, item.id)
  campaign.update(entry, { xp: finiteXp(entry.xp + xp) })
  return xp
}
