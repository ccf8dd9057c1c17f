import * as z from 'zod/mini'
import { identifier, type Metadata, metadata, numericString } from '../schemas/fields.ts'
import { openQueryEndpoint } from './endpoint.ts'

/** The arguments of `getCampaignInfo`. See "GET /campaign/info" in docs/the-service.md. */
export interface GetCampaignInfoRequest {
  /** Campaign ID. The name of the query parameter is assumed; see `queryNames`. */
  pid: string
}

/** Schema of {@link GetCampaignInfoRequest}. */
export const getCampaignInfoRequest = z.object({ pid: identifier })

/** A task as the campaign defines it. See "Campaign info" in docs/the-service.md. */
export type TaskDefinition = {
  /** Task ID: the `aid` of `recordActionValue`. */
  id: string
  /** Display name of the task. */
  name: string
  /** Type of the task. The API description lists no values. */
  type: string
  /** How often a user may complete the task. The API description lists no values. */
  recurrence: string
  /** The API description does not explain this number. */
  ref_xp: number
  /** Base reward in XP, before the multiplier. */
  xp: number
  /** Multiplier applied to `xp`. */
  xp_mul: number
  /** Metadata of the task. */
  meta?: Metadata | null | undefined
  /** IDs that the task depends on. */
  deps: string[]
  /** Whether the task is optional. */
  is_optional: boolean
}

/** A quest as the campaign defines it. See "Campaign info" in docs/the-service.md. */
export type QuestDefinition = {
  /** Quest ID: the `cid` of `recordActionValue`. */
  id: string
  /** Display name of the quest. */
  name: string
  /** IDs of the tasks that make up the quest. */
  actions: string[]
  /** Base reward in XP, before the multiplier. */
  xp: number
  /** Multiplier applied to `xp`. */
  xp_mul: number
  /** Metadata of the quest. */
  meta?: Metadata | null | undefined
  /** IDs that the quest depends on. */
  deps: string[]
}

/** A campaign's structure. See "Campaign info" in docs/the-service.md. */
export type CampaignInfo = {
  /** Campaign ID, the `pid` of every other call. */
  id: string
  /** Display name of the campaign. */
  name: string
  /** The campaign's tasks. */
  actions: TaskDefinition[]
  /** The campaign's quests. */
  quests: QuestDefinition[]
}

/** Schema of {@link TaskDefinition}. Numeric strings in `ref_xp` and `xp_mul` become numbers; unknown fields are kept. */
export const taskDefinition = z.looseObject({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  recurrence: z.string(),
  ref_xp: numericString,
  xp: z.number(),
  xp_mul: numericString,
  meta: metadata,
  deps: z.array(z.string()),
  is_optional: z.boolean(),
})

/** Schema of {@link QuestDefinition}. Numeric strings in `xp_mul` become numbers; unknown fields are kept. */
export const questDefinition = z.looseObject({
  id: z.string(),
  name: z.string(),
  actions: z.array(z.string()),
  xp: z.number(),
  xp_mul: numericString,
  meta: metadata,
  deps: z.array(z.string()),
})

/** Schema of {@link CampaignInfo}. Unknown fields are kept. */
export const campaignInfo = z.looseObject({
  id: z.string(),
  name: z.string(),
  actions: z.array(taskDefinition),
  quests: z.array(questDefinition),
})

export default openQueryEndpoint<GetCampaignInfoRequest, CampaignInfo>({
  method: 'GET',
  path: 'campaign/info',
  request: getCampaignInfoRequest,
  response: campaignInfo,
  retry: 'safe',
  assumedQueryNames: ['pid'],
})
