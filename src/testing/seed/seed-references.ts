import * as z from 'zod/mini'
import { requiredTasks } from '../state/campaign.ts'
import type { CampaignSeed, ChallengeSeed, QuestSeed, TaskSeed } from './seed.ts'

type Path = readonly (string | number)[]

interface Problem {
  readonly path: Path
  readonly message: string
}

/** A schema check that reports the problems that a function finds. */
const checkThat = <Value>(findProblems: (value: Value) => readonly Problem[]) =>
  z.check<Value>(({ value, issues }) => {
    for (const { path, message } of findProblems(value)) {
      issues.push({ code: 'custom', path: [...path], message, input: value })
    }
  })

/** Refuses two members of a list with the same value in a field. */
export const isUnique = <Member>(field: keyof Member & string) =>
  checkThat((members: readonly Member[]) =>
    duplicates(members.map((member) => member[field])).map((index) => ({
      path: [index, field],
      message: 'is a duplicate',
    })),
  )

/** Refuses unknown IDs, duplicate IDs, seasons out of order, and dependency cycles. */
export const hasConsistentReferences = checkThat(campaignProblems)

interface Item {
  readonly path: Path
  readonly id: string
  readonly deps: readonly string[]
  /** The tasks of a quest. */
  readonly actions: readonly string[]
}

function campaignProblems({
  actions = [],
  quests = [],
  challenges = [],
  users = [],
  seasons = [],
}: CampaignSeed): Problem[] {
  const items = [...itemsOf('actions', actions), ...itemsOf('quests', quests), ...itemsOf('challenges', challenges)]
  const tasks = new Map(actions.map((task) => [task.id, task]))
  const known = new Set(items.map(({ id }) => id))
  const problems: Problem[] = [
    ...duplicates(items.map(({ id }) => id)).map((index) => ({
      path: [...(items[index] as Item).path, 'id'],
      message: 'is the ID of more than one task, quest or challenge',
    })),
    ...items.flatMap(({ path, deps }) => unknownIds(deps, known, [...path, 'deps'])),
    ...quests.flatMap((quest, index) => unknownIds(quest.actions, tasks, ['quests', index, 'actions'])),
    ...users.flatMap(({ completed = [] }, index) => unknownIds(completed, known, ['users', index, 'completed'])),
    ...seasons.flatMap(({ max_xp }, index) =>
      max_xp > (seasons[index - 1]?.max_xp ?? 0)
        ? []
        : [{ path: ['seasons', index, 'max_xp'], message: 'must be greater than 0 and than the previous max_xp' }],
    ),
  ]
  if (problems.length > 0) return problems
  const cycle = findCycle(items.map(({ id, deps, actions }) => [id, [...deps, ...requiredTasks(actions, tasks)]]))
  return cycle ? [{ path: [], message: `has a dependency cycle: ${cycle.join(' → ')}` }] : []
}

const itemsOf = (kind: string, seeds: readonly (TaskSeed | QuestSeed | ChallengeSeed)[]): Item[] =>
  seeds.map((seed, index) => ({
    path: [kind, index],
    id: seed.id,
    deps: seed.deps ?? [],
    actions: 'actions' in seed ? seed.actions : [],
  }))

const unknownIds = (ids: readonly string[], known: Pick<ReadonlySet<string>, 'has'>, path: Path): Problem[] =>
  ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ path: [...path, index], message: `refers to "${id}", which does not exist` }],
  )

/** Returns the indexes of values that have occurred before. */
function duplicates(values: readonly unknown[]): number[] {
  const seen = new Set<unknown>()
  return values.flatMap((value, index) => {
    if (value !== undefined && seen.has(value)) return [index]
    seen.add(value)
    return []
  })
}

/** Searches depth-first, without recursion: a chain of 20 000 dependencies would overflow the stack. */
function findCycle(needs: readonly (readonly [id: string, needed: string[]])[]): string[] | undefined {
  const remaining = new Map(needs)
  const onPath = new Set<string>()
  for (const [start] of needs) {
    const path = [start]
    for (let id = path.at(-1); id !== undefined; id = path.at(-1)) {
      onPath.add(id)
      const next = remaining.get(id)?.pop()
      if (next === undefined) {
        onPath.delete(id)
        path.pop()
      } else if (onPath.has(next)) {
        return [...path.slice(path.indexOf(next)), next]
      } else {
        path.push(next)
      }
    }
  }
  return undefined
}
