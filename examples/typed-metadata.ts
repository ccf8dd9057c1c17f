/**
 * Your own types for the metadata of tasks and quests:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 zod@4
 *   npx tsx typed-metadata.ts
 *
 * The owner of a campaign defines the fields of `meta`, so the client types it
 * as an unknown record. Describe the agreed fields in a schema and read `meta`
 * with it.
 */
import {
  CampaignClient,
  type QuestDefinition,
  type TaskDefinition,
} from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import * as z from 'zod'

const TaskMeta = z.object({
  icon: z.enum(['wallet', 'heart', 'star']),
  url: z.url().optional(),
})
const QuestMeta = z.object({ badge: z.string() })

type Typed<Item, Schema extends z.ZodType> = Omit<Item, 'meta'> & {
  meta: z.infer<Schema> | undefined
}

/**
 * Returns the item with typed metadata. `meta` is `undefined` when the metadata
 * is missing or does not match the schema.
 */
function withMeta<
  Item extends { id: string; meta?: unknown },
  Schema extends z.ZodType,
>(item: Item, schema: Schema): Typed<Item, Schema> {
  const { success, data, error } = schema.safeParse(item.meta ?? undefined)
  if (!success && isPresent(item.meta))
    console.warn(`${item.id}: ${z.prettifyError(error).replaceAll('\n', ' ')}`)
  return { ...item, meta: success ? data : undefined }
}

const isPresent = (meta: unknown): boolean =>
  typeof meta === 'object' && meta !== null && Object.keys(meta).length > 0

async function loadCampaign(client: CampaignClient, pid: string) {
  const { name, actions, quests } = await client.getCampaignInfo({ pid })
  return {
    name,
    tasks: actions.map((task: TaskDefinition) => withMeta(task, TaskMeta)),
    quests: quests.map((quest: QuestDefinition) => withMeta(quest, QuestMeta)),
  }
}

const service = createCampaignService({ idSeed: 'metadata' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
  fetch: service.fetch,
})

const { name, tasks, quests } = await loadCampaign(client, 'demo')
console.log(name)
// The compiler knows `icon` and `badge` now.
for (const task of tasks)
  console.log(`  ${task.id}: ${task.meta?.icon ?? 'no icon'}`)
for (const quest of quests)
  console.log(`  ${quest.id}: ${quest.meta?.badge ?? 'no badge'}`)
