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
    /** Repeatedly removes the items that depend on no remaining item. Counts the rest. */
    count(items: readonly Item[]): number {
      let left = items
      for (;;) {
        const ids = new Set(left.map(({ id }) => id))
        const blocked = left.filter((item) => dependenciesOf(item).some((id) => ids.has(id)))
        if (blocked.length === left.length) return left.length
        left = blocked
      }
    },
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
