import { isRecord } from '../../shared/types.ts'
import { dataOf } from './probe.ts'
import { asAssumed, type Check, differs, type Finding, type Group, noData } from './question.ts'

interface Item {
  readonly id: string
  readonly deps: readonly string[]
}

function itemsOf(check: Check, list: 'actions' | 'quests'): readonly Item[] | undefined {
  const data = dataOf(check.outcome('getCampaignInfo'))
  if (!isRecord(data) || !Array.isArray(data[list])) return undefined
  return data[list].filter(isRecord).map(({ id, deps, actions }) => ({
    id: String(id),
    deps: [...(Array.isArray(deps) ? deps : []), ...(list === 'quests' && Array.isArray(actions) ? actions : [])].map(
      String,
    ),
  }))
}

/** Judges all tasks and quests by a count of those that are wrong. */
function judgeAll(
  check: Check,
  count: (tasks: readonly Item[], quests: readonly Item[]) => number,
  what: string,
): Finding {
  const [tasks, quests] = [itemsOf(check, 'actions'), itemsOf(check, 'quests')]
  if (tasks === undefined || quests === undefined) return noData(check.outcome('getCampaignInfo'))
  const wrong = count(tasks, quests)
  if (wrong === 0) return asAssumed()
  return differs(`${wrong} ${what}`, 'correct the campaign in the admin panel', { count: wrong })
}

/** Counts the items that remain after items without open dependencies are removed, again and again. */
function countInCycles(items: readonly Item[]): number {
  const dependents = new Map<string, Item[]>()
  const open = new Map(items.map((item) => [item.id, 0]))
  for (const item of items) {
    for (const dep of new Set(item.deps)) {
      if (!open.has(dep)) continue
      open.set(item.id, (open.get(item.id) ?? 0) + 1)
      const list = dependents.get(dep)
      if (list === undefined) dependents.set(dep, [item])
      else list.push(item)
    }
  }
  const ready = [...open].filter(([, count]) => count === 0).map(([id]) => id)
  for (const id of ready) {
    for (const item of dependents.get(id) ?? []) {
      const left = (open.get(item.id) ?? 0) - 1
      open.set(item.id, left)
      if (left === 0) ready.push(item.id)
    }
  }
  return open.size - ready.length
}

export const campaign: Group = {
  title: 'campaign',
  questions: [
    {
      id: 'campaign.missing-ids',
      text: 'dependencies',
      assumed: 'all exist',
      judge: (check) =>
        judgeAll(
          check,
          (tasks, quests) => {
            const ids = new Set([...tasks, ...quests].map(({ id }) => id))
            return [...tasks, ...quests].filter(({ deps }) => deps.some((dep) => !ids.has(dep))).length
          },
          'tasks or quests need an ID that does not exist',
        ),
    },
    {
      id: 'campaign.circles',
      text: 'cycles of dependencies',
      assumed: 'none',
      judge: (check) =>
        judgeAll(
          check,
          (tasks, quests) => countInCycles([...tasks, ...quests]),
          'tasks or quests in cycles, or after one',
        ),
    },
    {
      id: 'campaign.empty-quests',
      text: 'quests without tasks',
      assumed: 'none',
      judge(check) {
        const data = dataOf(check.outcome('getCampaignInfo'))
        if (!isRecord(data) || !Array.isArray(data.quests)) return noData(check.outcome('getCampaignInfo'))
        const count = data.quests.filter(
          (quest) => isRecord(quest) && Array.isArray(quest.actions) && quest.actions.length === 0,
        ).length
        return count === 0 ? asAssumed() : differs(`${count}`, 'correct the campaign in the admin panel', { count })
      },
    },
  ],
}
