import { campaignInfo } from 'campaign-client/schemas'
import { dataOf } from '../probe.ts'
import { asAssumed, differs, noData, type Question } from '../question.ts'

/** A task or a quest; only quests have `actions`. */
interface Item {
  readonly id: string
  readonly actions?: readonly string[]
  readonly deps: readonly string[]
}

/** Returns the dependencies of an item. A quest also depends on its tasks. */
const dependenciesOf = ({ deps, actions = [] }: Item): readonly string[] => [...deps, ...actions]

/** Counts the items that depend on a cycle: the rest after removing, in turn, every item whose dependencies are removed. */
function countBlocked(items: readonly Item[]): number {
  /** The items that are left, by ID. An ID may occur twice. */
  const left = new Map<string, number>()
  for (const { id } of items) left.set(id, (left.get(id) ?? 0) + 1)
  const dependants = new Map<string, Item[]>([...left.keys()].map((id) => [id, []]))
  /** The number of dependencies that are left, by item. */
  const open = new Map<Item, number>()
  for (const item of items) {
    const dependencies = [...new Set(dependenciesOf(item))].filter((id) => left.has(id))
    open.set(item, dependencies.length)
    for (const id of dependencies) dependants.get(id)?.push(item)
  }
  const removed = items.filter((item) => open.get(item) === 0)
  // The list grows in the loop.
  for (const { id } of removed) {
    const others = (left.get(id) ?? 0) - 1
    left.set(id, others)
    if (others > 0) continue
    for (const item of dependants.get(id) ?? []) {
      const count = (open.get(item) ?? 0) - 1
      open.set(item, count)
      if (count === 0) removed.push(item)
    }
  }
  return items.length - removed.length
}

const MISTAKES = [
  {
    id: 'campaign.missing-ids',
    text: 'dependencies',
    assumed: 'all exist',
    unit: 'tasks or quests that depend on a missing ID',
    count(items: readonly Item[]): number {
      const ids = new Set(items.map(({ id }) => id))
      return items.filter((item) => dependenciesOf(item).some((id) => !ids.has(id))).length
    },
  },
  {
    id: 'campaign.circles',
    text: 'cycles of dependencies',
    assumed: 'none',
    unit: 'tasks or quests that depend on a cycle',
    count: countBlocked,
  },
  {
    id: 'campaign.empty-quests',
    text: 'quests without tasks',
    assumed: 'none',
    unit: 'quests',
    count: (items: readonly Item[]): number => items.filter(({ actions }) => actions?.length === 0).length,
  },
]

export const campaign: readonly Question[] = MISTAKES.map(({ id, text, assumed, unit, count }) => ({
  id,
  text,
  assumed,
  judge({ reads }) {
    const outcome = reads.get('getCampaignInfo')
    const { data } = campaignInfo.safeParse(dataOf(outcome))
    if (data === undefined) return noData(outcome)
    const found = count([...data.actions, ...data.quests])
    if (found === 0) return asAssumed()
    return differs(`${found} ${unit}`, 'correct the campaign in the admin panel', { count: found })
  },
}))
