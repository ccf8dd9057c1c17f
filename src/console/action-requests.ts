import * as z from 'zod/mini'

const text = z.string()
const trimmed = text.check(z.trim())
const account = trimmed.check(z.minLength(1, 'Enter the account of a user.'))
const user = { pid: text, account: text, platform: text }

const TIMES = 'Enter a whole number of at least 1, or leave it empty for every request.'
const STATUS = 'Enter an HTTP status from 200 to 599.'
const DELAY = 'Enter a number of milliseconds, at least 0.'

/** The schema of each action's request, by the name of the action. Forms show the messages at their fields. */
export const ACTION_REQUESTS = {
  listUsers: z.object({ pid: text, find: text, limit: z.int().check(z.gte(1)) }),
  readUser: z.object(user),
  readRequest: z.object({ key: text }),
  readDelivery: z.object({ key: text }),
  completeTask: z.object({ ...user, aid: text }),
  saveWebhook: z.object({
    /** ID of the endpoint to change. Absent: adds an endpoint. */
    hook_id: z.optional(text),
    /** The ID of a new endpoint. Empty: the service chooses one. */
    newId: z.optional(trimmed),
    urls: z.array(text).check(z.minLength(1, 'Enter the URL of your endpoint.')),
    scope: trimmed.check(z.minLength(1, 'Enter the scope of the messages, for instance user_activity.')),
    /** Absent: unchanged. Empty: none. */
    secret: z.optional(text),
    campaigns: z.array(text),
  }),
  removeWebhook: z.object({ hook_id: text }),
  testWebhook: z.object({ account, hook_id: text }),
  emit: z.object({ kind: z.enum(['action_completed', 'quest_completed']), pid: text, account, item: text }),
  redeliver: z.object({ key: text }),
  addFault: z.object({
    on: text,
    kind: text,
    /** `null`: every request. */
    times: z.nullable(z.int(TIMES).check(z.gte(1, TIMES))),
    status: z.optional(z.int(STATUS).check(z.gte(200, STATUS), z.lte(599, STATUS))),
    delayMs: z.optional(z.number(DELAY).check(z.gte(0, DELAY))),
  }),
  cancelFault: z.object({ key: text }),
  advance: z.object({ ms: z.number() }),
  advanceToNextRetry: z.object({}),
  resetClock: z.object({}),
  loadSeed: z.object({ seed: z.unknown() }),
  reset: z.object({}),
}

export type ActionName = keyof typeof ACTION_REQUESTS
export type ActionRequest<Name extends ActionName> = z.infer<(typeof ACTION_REQUESTS)[Name]>
