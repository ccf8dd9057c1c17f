import type { CampaignService, FaultOptions } from 'campaign-client/testing'
import * as z from 'zod/mini'
import type { ActionName, AnswerOfAction } from '../protocol.ts'
import { toCurl } from './curl.ts'
import { deliveryRow, type Feed, requestRow } from './feed.ts'
import { withSecret } from './seed.ts'

/** What the actions work with. */
export interface ActionParts {
  readonly service: CampaignService
  readonly feed: Feed
  /** Moves the clock of the service. */
  readonly clock: { advance(ms: number): Promise<void>; advanceTo(timeMs: number): Promise<void> }
  /** The secret of webhooks that are given none. */
  readonly secret: string | undefined
  /** @throws Error when messages may not go there */
  requireReachable(url: string): void
}

const text = z.string()
const key = { pid: text, account: text, platform: text }

/** What each action is asked with. Whoever asks may be anybody on this machine. */
const REQUESTS = {
  listUsers: z.object({ pid: text, find: text, limit: z.int().check(z.gte(1), z.lte(1000)) }),
  readUser: z.object(key),
  readRequest: z.object({ number: z.int() }),
  readDelivery: z.object({ key: text }),
  completeTask: z.object({ ...key, aid: text }),
  saveWebhook: z.object({
    hook_id: z.optional(text),
    urls: z.array(text),
    scope: text,
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
  loadSeed: z.object({ seed: z.unknown() }),
  reset: z.object({}),
} satisfies Record<ActionName, z.ZodMiniType>

type Request<Name extends ActionName> = z.infer<(typeof REQUESTS)[Name]>

type Performed = {
  readonly [Name in ActionName]: (
    request: Request<Name>,
    parts: ActionParts,
  ) => AnswerOfAction<Name> | Promise<AnswerOfAction<Name>>
}

const ACTIONS: Performed = {
  listUsers: ({ pid, find, limit }, { feed }) => feed.campaigns.list(pid, find, limit),

  readUser({ pid, platform, account }, { feed }) {
    return feed.campaigns.user(pid, platform, account) ?? gone('There is no such user.')
  },

  readRequest({ number }, { feed }) {
    const { request, answer } = feed.request(number) ?? gone('This request is no longer remembered.')
    const { query, headers, body, authorized, handled } = request
    return {
      ...requestRow(request),
      query,
      headers,
      ...(body !== undefined && { body }),
      authorized,
      handled,
      ...(answer && { answer: { headers: answer.headers, body: answer.body } }),
      curl: toCurl(request),
    }
  },

  readDelivery({ key }, { feed }) {
    const delivery = feed.delivery(key) ?? gone('This delivery is no longer remembered.')
    const { body, signature } = delivery
    return { ...deliveryRow(delivery), body, ...(signature !== undefined && { signature }) }
  },

  completeTask(request, { service }) {
    service.completeTask(request)
    return null
  },

  saveWebhook({ hook_id, urls, scope, secret: given, campaigns }, { service, secret, requireReachable }) {
    for (const url of urls) requireReachable(url)
    const known = service.exportSeed({ secrets: true }).webhooks?.find((webhook) => webhook.hook_id === hook_id)
    const used = given === '' ? undefined : (given ?? (known ? known.secret : secret))
    const name = hook_id === undefined ? {} : { hook_id }
    return service.registerWebhook({
      ...name,
      url: urls,
      scope,
      campaigns,
      ...(used !== undefined && { secret: used }),
    })
  },

  removeWebhook({ hook_id }, { service }) {
    if (!service.unregisterWebhook(hook_id)) gone('There is no such endpoint any more.')
    return null
  },

  testWebhook({ account, hook_id }, { service, feed }) {
    const webhook = service.webhooks.find((each) => hook_id === undefined || each.hook_id === hook_id)
    if (!webhook) throw new Error('No endpoint is registered. Add one first.')
    const [pid] = webhook.campaigns
    const entry = feed.campaigns.entryOf(account, pid) ?? gone(`There is no user "${account}".`)
    return service.testWebhook({
      account,
      platform: platformOf(entry, account),
      pid: entry.pid,
      hook_id: webhook.hook_id,
    })
  },

  emit({ kind, pid, account, item }, { service, feed }) {
    const entry = feed.campaigns.entryOf(account, pid) ?? gone(`There is no user "${account}" in the campaign.`)
    const subject = { account, platform: platformOf(entry, account), pid }
    const { id, hook_ids } = service.emit(
      kind === 'action_completed' ? { kind, ...subject, aid: item } : { kind, ...subject, cid: item },
    )
    return { id, sent: hook_ids.length }
  },

  redeliver({ key }, { service }) {
    return { key: service.redeliver(key).deliveryId }
  },

  addFault({ on, kind, times, ...more }, { service }) {
    service.fail({ ...more, on, kind, times: times ?? Number.POSITIVE_INFINITY } as FaultOptions)
    return null
  },

  cancelFault({ key }, { service }) {
    const fault = service.faults.find(({ id }) => id === key) ?? gone('This fault is used up.')
    fault.cancel()
    return null
  },

  async advance({ ms, toNextRetry }, { service, clock }) {
    if (!toNextRetry) await clock.advance(ms ?? 0)
    else if (service.nextRetryAt !== undefined) await clock.advanceTo(service.nextRetryAt)
    else gone('No retry is waiting.')
    return null
  },

  loadSeed({ seed }, { service, secret }) {
    service.reset(withSecret(seed, secret, service.webhooks))
    return null
  },

  reset(_, { service }) {
    service.reset()
    return null
  },
}

function gone(message: string): never {
  throw new Error(message)
}

const platformOf = (
  {
    platform,
    profiles,
    ...entry
  }: { account: string; platform: string; profiles: readonly { account: string; platform: string }[] },
  account: string,
): string =>
  entry.account === account ? platform : (profiles.find((profile) => profile.account === account)?.platform ?? platform)

/** Asks for an action by name, as the page does. @throws Error with a sentence for the reader */
export async function performAction(name: string, request: unknown, parts: ActionParts): Promise<unknown> {
  if (!Object.hasOwn(ACTIONS, name)) gone(`There is no action "${name}".`)
  const checked = REQUESTS[name as ActionName].safeParse(request)
  if (!checked.success) {
    const [issue] = checked.error.issues
    return gone(`${name}: ${issue?.path.join('.') ?? 'request'}: ${issue?.message ?? 'wrong'}`)
  }
  // The request has just been read by the action's own schema.
  return (ACTIONS[name as ActionName] as (request: unknown, parts: ActionParts) => unknown)(checked.data, parts)
}
