import { copyJson } from '../../shared/text/json.ts'
import type { CampaignSeed, ChallengeSeed, QuestSeed, SeasonSeed, TaskSeed } from '../seed/campaign-seed.ts'

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

/** The parts of a campaign that do not change, with all defaults filled in. */
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

/** Fills in the defaults of a seed that has been checked. */
export const defineCampaign = (seed: CampaignSeed): CampaignDefinition => ({
  id: seed.id,
  name: seed.name ?? seed.id,
  organization: seed.organization ?? 'demo',
  registration: seed.registration ?? 'open',
  tasks: byId(seed.actions, defineTask),
  quests: byId(seed.quests, defineQuest),
  challenges: byId(seed.challenges, defineItem),
  seasons: (seed.seasons ?? [{ name: 'Season 1', max_xp: 1_000_000 }]).map((season) => ({ ...season })),
})

/** Returns the tasks that a quest requires: those that are not optional, or all tasks if every task is optional. */
export function requiredTasks(
  actions: readonly string[],
  tasks: ReadonlyMap<string, Pick<TaskSeed, 'is_optional'>>,
): readonly string[] {
  const required = actions.filter((id) => !tasks.get(id)?.is_optional)
  return required.length > 0 ? required : actions
}

const defineItem = (seed: TaskSeed | QuestSeed | ChallengeSeed): Item => ({
  id: seed.id,
  name: seed.name ?? seed.id,
  xp: seed.xp ?? 0,
  xp_mul: seed.xp_mul ?? 1,
  meta: seed.meta && copyJson(seed.meta),
  deps: [...(seed.deps ?? [])],
})

const defineTask = (seed: TaskSeed): Task => ({
  ...defineItem(seed),
  type: seed.type ?? 'custom',
  recurrence: seed.recurrence ?? 'once',
  ref_xp: seed.ref_xp ?? 0,
  is_optional: seed.is_optional ?? false,
})

const defineQuest = (seed: QuestSeed): Quest => ({ ...defineItem(seed), actions: [...seed.actions] })

const byId = <Seed extends { readonly id: string }, Defined>(
  seeds: readonly Seed[] = [],
  define: (seed: Seed) => Defined,
): ReadonlyMap<string, Defined> => new Map(seeds.map((seed) => [seed.id, define(seed)]))
