import { identifier } from '../../schemas/fields.ts'
import { type OptionRules, readOptions } from '../../shared/options.ts'
import { fits } from '../read-options.ts'
import type { UserEvent } from './complete-task.ts'
import { completeTask, missingDependencies } from './complete-task.ts'
import { findNamedEntry, type NamedEntry } from './named-entry.ts'
import { describeEntry, type EntrySnapshot } from './snapshot.ts'
import type { ServiceState } from './state.ts'

/** Options of `service.completeTask`. */
export interface CompleteTaskOptions extends NamedEntry {
  /** Task ID. */
  aid: string
}

const isIdentifier = fits(identifier)
const COMPLETE_TASK: OptionRules<CompleteTaskOptions> = {
  account: isIdentifier,
  platform: isIdentifier,
  pid: isIdentifier,
  aid: isIdentifier,
}

/** @throws TypeError when an option is wrong or names something that does not exist, or a dependency is missing */
export function completeNamedTask(
  given: CompleteTaskOptions,
  state: ServiceState,
  announce: (event: UserEvent) => void,
): EntrySnapshot {
  const options = readOptions('completeTask', given, COMPLETE_TASK)
  const { account, aid, pid } = options
  const { campaign, entry } = findNamedEntry('completeTask', options, state)
  const task = campaign.definition.tasks.get(aid)
  if (!task) throw new TypeError(`completeTask: aid: there is no task "${aid}" in "${pid}"`)
  const missing = missingDependencies(task.deps, entry)
  if (missing.length > 0) {
    throw new TypeError(`completeTask: aid: "${aid}" needs what is not completed yet: ${missing.join(', ')}`)
  }
  for (const completion of completeTask(campaign, entry, task)) announce({ ...completion, campaign, entry, account })
  return describeEntry(campaign, entry)
}
