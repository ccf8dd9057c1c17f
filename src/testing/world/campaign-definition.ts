import { type OptionRule, requireOptions } from '../../shared/options.ts'
import {
  CAMPAIGN_SEED,
  type CampaignSeed,
  CHALLENGE_SEED,
  type ChallengeSeed,
  QUEST_SEED,
  type QuestSeed,
  SEASON_SEED,
  type SeasonSeed,
  TASK_SEED,
  type TaskSeed,
} from './campaign-seed.ts'

interface Item {
  readonly id: string
  readonly name: string
  readonly xp: number
  readonly xp_mul: number
  readonly meta: Record<string, unknown> | undefined
  readonly deps: readonly string[]
}

export interface Task extends Item {
  readonly type: string
  readonly recurrence: string
  readonly ref_xp: number
  readonly is_optional: boolean
}

export interface Quest extends Item {
  readonly actions: readonly string[]
}

export type Challenge = Item

/** What a campaign consists of, with every default filled in and every reference known to lead somewhere. */
export interface CampaignDefinition {
  readonly id: string
  readonly name: string
  readonly organization: string
  readonly registration: 'open' | 'closed'
  readonly tasks: ReadonlyMap<string, Task>
  readonly quests: ReadonlyMap<string, Quest>
  readonly challenges: ReadonlyMap<string, Challenge>
  readonly seasons: readonly SeasonSeed[]
}

/** @throws TypeError when the seed contradicts itself, saying where. */
export function defineCampaign(seed: CampaignSeed): CampaignDefinition {
  const where = `campaign ${quote(requireText(seed?.id, 'campaigns: id'))}`
  requireOptions(where, seed, CAMPAIGN_SEED)
  if (seed.registration !== undefined && seed.registration !== 'open' && seed.registration !== 'closed') {
    throw new TypeError(`${where}: registration must be 'open' or 'closed'`)
  }
  const definition = {
    id: seed.id,
    name: seed.name ?? seed.id,
    organization: seed.organization ?? 'demo',
    registration: seed.registration ?? 'open',
    tasks: byId(seed.actions, TASK_SEED, defineTask, `${where}: actions`),
    quests: byId(seed.quests, QUEST_SEED, defineQuest, `${where}: quests`),
    challenges: byId(seed.challenges, CHALLENGE_SEED, defineItem, `${where}: challenges`),
    seasons: defineSeasons(seed.seasons, where),
  }
  checkReferences(definition, where)
  return definition
}

const defineItem = (seed: TaskSeed | QuestSeed | ChallengeSeed, where: string): Item => ({
  id: seed.id,
  name: seed.name ?? seed.id,
  xp: finite(seed.xp ?? 0, `${where}: xp`),
  xp_mul: finite(seed.xp_mul ?? 1, `${where}: xp_mul`),
  meta: seed.meta,
  deps: [...(seed.deps ?? [])],
})

const defineTask = (seed: TaskSeed, where: string): Task => ({
  ...defineItem(seed, where),
  type: seed.type ?? 'custom',
  recurrence: seed.recurrence ?? 'once',
  ref_xp: finite(seed.ref_xp ?? 0, `${where}: ref_xp`),
  is_optional: seed.is_optional ?? false,
})

const defineQuest = (seed: QuestSeed, where: string): Quest => {
  if (!Array.isArray(seed.actions) || seed.actions.length === 0) {
    throw new TypeError(`${where}: actions must list at least one task ID`)
  }
  return { ...defineItem(seed, where), actions: [...seed.actions] }
}

function byId<Seed extends { id: string }, Defined>(
  seeds: readonly Seed[] | undefined,
  known: Readonly<Record<string, OptionRule>>,
  define: (seed: Seed, where: string) => Defined,
  where: string,
): ReadonlyMap<string, Defined> {
  const defined = new Map<string, Defined>()
  for (const [index, seed] of (seeds ?? []).entries()) {
    requireOptions(`${where}[${index}]`, seed, known)
    const id = requireText(seed.id, `${where}[${index}].id`)
    if (defined.has(id)) throw new TypeError(`${where}: ${quote(id)} is there twice`)
    defined.set(id, define(seed, `${where}[${index}]`))
  }
  return defined
}

function defineSeasons(seeds: readonly SeasonSeed[] | undefined, where: string): readonly SeasonSeed[] {
  const seasons = seeds ?? [{ name: 'Season 1', max_xp: 1_000_000 }]
  if (seasons.length === 0) throw new TypeError(`${where}: seasons must not be empty; leave it out for one season`)
  for (const [index, season] of seasons.entries()) {
    requireOptions(`${where}: seasons[${index}]`, season, SEASON_SEED)
    finite(season.max_xp, `${where}: seasons[${index}].max_xp`)
    const previous = seasons[index - 1]
    if (season.max_xp <= (previous?.max_xp ?? 0)) {
      throw new TypeError(`${where}: seasons[${index}].max_xp must be greater than that of the season before`)
    }
  }
  return seasons.map(({ name, max_xp }) => ({ name, max_xp }))
}

type Parts = Pick<CampaignDefinition, 'tasks' | 'quests' | 'challenges'>

function checkReferences({ tasks, quests, challenges }: Parts, where: string): void {
  const requirements = new Map<string, readonly string[]>()
  for (const [kind, items] of [
    ['actions', tasks],
    ['quests', quests],
    ['challenges', challenges],
  ] as const) {
    for (const item of items.values()) {
      if (requirements.has(item.id)) {
        throw new TypeError(`${where}: ${quote(item.id)} is the ID of more than one task, quest or challenge`)
      }
      requirements.set(item.id, item.deps)
      for (const dep of item.deps) {
        if (!tasks.has(dep) && !quests.has(dep) && !challenges.has(dep)) {
          throw new TypeError(
            `${where}: ${kind} ${quote(item.id)} depends on ${quote(String(dep))}, which is not there`,
          )
        }
      }
    }
  }
  for (const quest of quests.values()) {
    const stranger = quest.actions.find((id) => !tasks.has(id))
    if (stranger !== undefined) {
      throw new TypeError(`${where}: quest ${quote(quest.id)} lists the task ${quote(stranger)}, which is not there`)
    }
    requirements.set(quest.id, [...quest.deps, ...requiredTasks(quest, tasks)])
  }
  const cycle = findCycle(requirements)
  if (cycle) throw new TypeError(`${where}: nothing of ${cycle.map(quote).join(' → ')} could ever be completed`)
}

/** The tasks a quest cannot be completed without: all that are not optional, or all when all are. */
export function requiredTasks(quest: Quest, tasks: ReadonlyMap<string, Task>): readonly string[] {
  const required = quest.actions.filter((id) => !tasks.get(id)?.is_optional)
  return required.length > 0 ? required : quest.actions
}

function findCycle(requirements: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const finished = new Set<string>()
  for (const start of requirements.keys()) {
    // An explicit stack: a long chain of dependencies must not end in a stack overflow.
    const path: { id: string; rest: string[] }[] = []
    const onPath = new Set<string>()
    const enter = (id: string): void => {
      path.push({ id, rest: [...(requirements.get(id) ?? [])] })
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

const quote = (text: string): string => `"${text}"`

const requireText = (value: unknown, where: string): string => {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${where} must be a non-empty string`)
  return value
}

const finite = (value: unknown, where: string): number => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError(`${where} must be a finite number`)
  return value
}
