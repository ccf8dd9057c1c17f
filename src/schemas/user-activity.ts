import * as z from 'zod/mini'
import { presentMetadata } from './fields.ts'

const action = z.looseObject({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  meta: z.exactOptional(presentMetadata),
})

const actionCompleted = z.looseObject({
  type: z.literal('action_completed'),
  data: z.looseObject({ action, account: z.exactOptional(z.string()), xp: z.number() }),
})

// The interface does not show the data of a completed quest.
const questCompleted = z.looseObject({
  type: z.literal('quest_completed'),
  data: z.looseObject({
    action: z.exactOptional(action),
    account: z.exactOptional(z.string()),
    xp: z.exactOptional(z.number()),
  }),
})

/**
 * Schema of the webhook message `UserActivity`, for stored messages. Unknown fields are kept. To check that a message comes
 * from the service, use `verifyWebhook`.
 * Interface: [Message](/the-service#message).
 */
export const userActivity = z.looseObject({
  id: z.string(),
  scope: z.literal('user_activity'),
  user: z.string(),
  user_id: z.exactOptional(z.string()),
  wallet: z.string(),
  email: z.string(),
  campaign: z.looseObject({ id: z.string(), name: z.string() }),
  event: z.union([actionCompleted, questCompleted]),
  total_xp: z.number(),
  ref_xp: z.number(),
  ugc_xp: z.number(),
  xp_mul: z.number(),
  rank: z.number(),
  team: z.exactOptional(z.string()),
})
