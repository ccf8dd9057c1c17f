import type { OptionProblem } from '../../shared/options.ts'
import { requiredTasks } from './campaign-definition.ts'
import type { CampaignSeed, ChallengeSeed, QuestSeed, SeasonSeed, TaskSeed } from './campaign-seed.ts'

/** What campaigns that have the right shape contradict in themselves: two of one ID, what leads nowhere, circles. */
export const referenceProblems = (seeds: readonly CampaignSeed[]): OptionProblem[] => [
  ...duplicates(seeds.map(({ id }) => id)).map((index) => problem([index, 'id'], 'is there twice')),
  ...seeds.flatMap((seed, index) => inside([index], campaignProblems(seed))),
]

function campaignProblems(seed: CampaignSeed): OptionProblem[] {
  const items = itemsOf(seed)
  const tasks = new Map(seed.actions?.map((task) => [task.id, task]))
  const known = new Set(items.map(({ id }) => id))
  const problems = [
    ...duplicates(items.map(({ id }) => id)).map((index) =>
      problem([...(items[index] as Item).path, 'id'], 'is the ID of more than one task, quest or challenge'),
    ),
    ...items.flatMap(({ path, deps }) => strangers(deps, known, [...path, 'deps'])),
    ...(seed.quests ?? []).flatMap(({ actions }, index) => strangers(actions, tasks, ['quests', index, 'actions'])),
    ...(seed.users ?? []).flatMap(({ completed = [] }, index) =>
      strangers(completed, known, ['users', index, 'completed']),
    ),
    ...duplicates((seed.invite_codes ?? []).map(({ code }) => code)).map((index) =>
      problem(['invite_codes', index, 'code'], 'is there twice'),
    ),
    ...seasonProblems(seed.seasons ?? []),
  ]
  return problems.length > 0 ? problems : circleProblems(items, tasks)
}

interface Item {
  readonly path: readonly (string | number)[]
  readonly id: string
  readonly deps: readonly string[]
  /** The tasks that a quest consists of. */
  readonly actions: readonly string[]
}

const itemsOf = (seed: CampaignSeed): Item[] =>
  (['actions', 'quests', 'challenges'] as const).flatMap((kind) =>
    (seed[kind] ?? []).map((item: TaskSeed | QuestSeed | ChallengeSeed, index) => ({
      path: [kind, index],
      id: item.id,
      deps: item.deps ?? [],
      actions: 'actions' in item ? item.actions : [],
    })),
  )

function circleProblems(items: readonly Item[], tasks: ReadonlyMap<string, TaskSeed>): OptionProblem[] {
  const needs = new Map(items.map(({ id, deps, actions }) => [id, [...deps, ...requiredTasks(actions, tasks)]]))
  const circle = findCircle(needs)
  return circle ? [problem([], `would never let anybody complete ${circle.join(' → ')}: it is a circle`)] : []
}

const seasonProblems = (seasons: readonly SeasonSeed[]): OptionProblem[] =>
  seasons.flatMap(({ max_xp }, index) =>
    max_xp > (seasons[index - 1]?.max_xp ?? 0)
      ? []
      : [problem(['seasons', index, 'max_xp'], 'must be greater than 0 and than that of the season before')],
  )

/** Where a list names what is not there. */
const strangers = (
  ids: readonly string[],
  known: Pick<ReadonlySet<string>, 'has'>,
  path: readonly (string | number)[],
): OptionProblem[] =>
  ids.flatMap((id, index) => (known.has(id) ? [] : [problem([...path, index], `names "${id}", which is not there`)]))

/** The places of those that were there before. */
export function duplicates(ids: readonly (string | undefined)[]): number[] {
  const seen = new Set<string>()
  return ids.flatMap((id, index) => {
    if (id === undefined) return []
    if (seen.has(id)) return [index]
    seen.add(id)
    return []
  })
}

const problem = (path: readonly (string | number)[], message: string): OptionProblem => ({
  path: path.map(String),
  message,
})

const inside = (path: readonly (string | number)[], problems: readonly OptionProblem[]): OptionProblem[] =>
  problems.map((found) => ({ path: [...path.map(String), ...found.path], message: found.message }))

function findCircle(needs: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const finished = new Set<string>()
  for (const start of needs.keys()) {
    // An explicit stack: a long chain of dependencies must not end in a stack overflow.
    const path: { id: string; rest: string[] }[] = []
    const onPath = new Set<string>()
    const enter = (id: string): void => {
      path.push({ id, rest: [...(needs.get(id) ?? [])] })
      onPath.add(id)
    }
    if (!finished.has(start)) enter(start)
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const id = top.rest.pop()
      if (id === undefined) {
        finished.add(top.id)
        onPath.delete(top.id)
        path.pop()
      } else if (onPath.has(id)) {
        return [...path.slice(path.findIndex((step) => step.id === id)).map((step) => step.id), id]
      } else if (!finished.has(id)) {
        enter(id)
      }
    }
  }
  return undefined
}
