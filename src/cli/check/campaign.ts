import { campaignInfo } from 'campaign-client/schemas'
import { dataOf } from './probe.ts'
import { asAssumed, differs, noData, type Question } from './question.ts'

interface Item {
  readonly id: string
  readonly actions?: readonly string[]
  readonly deps: readonly string[]
}

/** A question whose answer is a number of tasks and quests; zero is as assumed. */
const counting = (
  id: string,
  text: string,
  assumed: string,
  unit: string,
  count: (items: readonly Item[]) => number,
): Question => ({
  id,
  text,
  assumed,
  judge(check) {
    const outcome = check.reads.get('getCampaignInfo')
    const { data } = campaignInfo.safeParse(dataOf(outcome))
    if (data === undefined) return noData(outcome)
    const found = count([...data.actions, ...data.quests])
    if (found === 0) return asAssumed()
    return differs(`${found} ${unit}`, 'correct the campaign in the admin panel', { count: found })
  },
})

/** A quest needs its tasks, too. */
const neededBy = ({ deps, actions = [] }: Item): readonly string[] => [...deps, ...actions]

function countWithMissingIds(items: readonly Item[]): number {
  const ids = new Set(items.map(({ id }) => id))
  return items.filter((item) => neededBy(item).some((id) => !ids.has(id))).length
}

/** Removes the items that need none of the others, until no more can be removed. */
function countInCycles(items: readonly Item[]): number {
  let left = items
  for (;;) {
    const ids = new Set(left.map(({ id }) => id))
    const blocked = left.filter((item) => neededBy(item).some((id) => ids.has(id)))
    if (blocked.length === left.length) return left.length
    left = blocked
  }
}

const countEmptyQuests = (items: readonly Item[]): number => items.filter(({ actions }) => actions?.length === 0).length

export const campaign: readonly Question[] = [
  counting(
    'campaign.missing-ids',
    'dependencies',
    'all exist',
    'tasks or quests need an ID that does not exist',
    countWithMissingIds,
  ),
  counting(
    'campaign.circles',
    'cycles of dependencies',
    'none',
    'tasks or quests in cycles, or after one',
    countInCycles,
  ),
  counting('campaign.empty-quests', 'quests without tasks', 'none', 'quests', countEmptyQuests),
]
