import * as z from 'zod/mini'

const text = z.string()
const key = { pid: text, account: text, platform: text }

/** The schema of each action's request, by the name of the action. Each is a POST of JSON that is answered with JSON. */
export const REQUESTS = {
  listUsers: z.object({ pid: text, find: text, limit: z.int().check(z.gte(1)) }),
  readUser: z.object(key),
  readRequest: z.object({ key: text }),
  readDelivery: z.object({ key: text }),
  completeTask: z.object({ ...key, aid: text }),
  saveWebhook: z.object({
    /** Of an endpoint that is changed. */
    hook_id: z.optional(text),
    /** Of an endpoint that is added. */
    newId: z.optional(text),
    urls: z.array(text),
    scope: text,
    /** Absent: unchanged. Empty: none. */
    secret: z.optional(text),
    campaigns: z.array(text),
  }),
  removeWebhook: z.object({ hook_id: text }),
  testWebhook: z.object({ account: text, hook_id: z.optional(text) }),
  emit: z.object({ kind: z.enum(['action_completed', 'quest_completed']), pid: text, account: text, item: text }),
  redeliver: z.object({ key: text }),
  addFault: z.object({
    on: text,
    kind: text,
    times: z.nullable(z.number()),
    status: z.optional(z.number()),
    delayMs: z.optional(z.number()),
  }),
  cancelFault: z.object({ key: text }),
  advance: z.object({ ms: z.optional(z.number()), toNextRetry: z.optional(z.boolean()) }),
  resetClock: z.object({}),
  loadSeed: z.object({ seed: z.unknown() }),
  reset: z.object({}),
}

export type ActionName = keyof typeof REQUESTS
export type RequestOfAction<Name extends ActionName> = z.infer<(typeof REQUESTS)[Name]>
