import type { CampaignSeed, ChallengeSeed, QuestSeed, SeasonSeed, TaskSeed } from '../seed/seed.ts'

/** A seed with all its defaults. Only `meta` has no default. */
type WithDefaults<Seed> = { readonly [Name in Exclude<keyof Seed, 'meta'>]-?: Exclude<Seed[Name], undefined> } & {
  readonly meta?: Record<string, unknown>
}

export type Task = WithDefaults<TaskSeed>
export type Quest = WithDefaults<QuestSeed>
export type Challenge = WithDefaults<ChallengeSeed>

/** The parts of a campaign that do not change. */
export interface CampaignDefinition {
  readonly id: string
  readonly name: string
  readonly organization: string
  readonly registration: 'open' | 'closed'
  readonly seasons: readonly SeasonSeed[]
  readonly tasks: ReadonlyMap<string, Task>
  readonly quests: ReadonlyMap<string, Quest>
  readonly challenges: ReadonlyMap<string, Challenge>
}

const ITEM_DEFAULTS = { xp: 0, xp_mul: 1, deps: [] }
const TASK_DEFAULTS = { ...ITEM_DEFAULTS, type: 'custom', recurrence: 'once', ref_xp: 0, is_optional: false }

/** Adds the defaults to a seed that has been checked. */
export const defineCampaign = (seed: CampaignSeed): CampaignDefinition => ({
  id: seed.id,
  name: seed.name ?? seed.id,
  organization: seed.organization ?? 'demo',
  registration: seed.registration ?? 'open',
  seasons: seed.seasons ?? [{ name: 'Season 1', max_xp: 1_000_000 }],
  tasks: withDefaults<Task>(TASK_DEFAULTS, seed.actions),
  quests: withDefaults<Quest>(ITEM_DEFAULTS, seed.quests),
  challenges: withDefaults<Challenge>(ITEM_DEFAULTS, seed.challenges),
})

const withDefaults = <Item>(defaults: object, seeds: readonly ChallengeSeed[] = []): ReadonlyMap<string, Item> =>
  new Map(seeds.map((seed) => [seed.id, { ...defaults, name: seed.id, ...seed } as Item]))

/** Returns the tasks that a quest requires: those that are not optional, or all tasks if every task is optional. */
export function requiredTasks(
  actions: readonly string[],
  tasks: ReadonlyMap<string, Pick<TaskSeed, 'is_optional'>>,
): readonly string[] {
  const required = actions.filter((id) => !tasks.get(id)?.is_optional)
  return required.length > 0 ? required : actions
}
