import type { CampaignService, EntrySnapshot, FaultOptions } from 'campaign-client/testing'
import { type ActionName, REQUESTS, type RequestOfAction } from '../action-requests.ts'
import { Problem } from '../problem.ts'
import type { AnswerOfAction } from '../protocol.ts'
import { deliveryRow, type Feed } from './feed.ts'
import { withSecret } from './seed.ts'

/** The objects that the actions work with. */
export interface ActionParts {
  readonly service: CampaignService
  readonly feed: Feed
  /** The clock of the service. */
  readonly clock: {
    now(): number
    advance(ms: number): Promise<void>
    advanceTo(timeMs: number): Promise<void>
    reset(): void
  }
  /** The secret of endpoints that are given none. */
  readonly secret: string | undefined
  /** @throws Error when messages may not go there */
  requireReachable(url: string): void
}

type Performed = {
  readonly [Name in ActionName]: (
    request: RequestOfAction<Name>,
    parts: ActionParts,
  ) => AnswerOfAction<Name> | Promise<AnswerOfAction<Name>>
}

const ACTIONS: Performed = {
  listUsers: ({ pid, find, limit }, { feed }) => feed.campaigns.list(pid, find, limit),

  readUser: ({ pid, platform, account }, { feed }) =>
    feed.campaigns.user(pid, platform, account) ?? missing('There is no such user.'),

  readRequest: ({ key }, { feed }) => feed.request(key) ?? missing('This request is no longer remembered.'),

  readDelivery({ key }, { feed }) {
    const delivery = feed.delivery(key) ?? missing('This delivery is no longer remembered.')
    const { body, signature, attempts } = delivery
    return { ...deliveryRow(delivery), body, attemptsMade: attempts, ...(signature !== undefined && { signature }) }
  },

  completeTask(request, { service, feed, clock }) {
    feed.acting(() => service.completeTask(request))
    const { account, platform, pid, aid } = request
    feed.addAction('Task completed', account, pid, { task: aid, account, platform, campaign: pid }, clock.now())
    return null
  },

  saveWebhook({ hook_id, newId, urls, scope, secret: given, campaigns }, { service, secret, ...parts }) {
    const webhooks = service.exportSeed({ secrets: true }).webhooks ?? []
    const known = webhooks.find((webhook) => webhook.hook_id === hook_id)
    if (hook_id !== undefined && !known) missing('There is no such endpoint any more.')
    if (newId !== undefined && service.webhooks.some((webhook) => webhook.hook_id === newId)) {
      throw new Problem(`Another endpoint has the ID "${newId}".`, 'newId')
    }
    requireUrls(urls, parts.requireReachable)
    if (scope === '') throw new Problem('Enter the scope of the messages, user_activity for instance.', 'scope')
    const unknown = campaigns.find((pid) => !parts.feed.campaigns.has(pid))
    if (unknown !== undefined) throw new Problem(`There is no campaign "${unknown}".`, 'campaigns')
    const used = given === '' ? undefined : (given ?? (known ? known.secret : secret))
    const id = hook_id ?? newId
    return service.registerWebhook({
      ...(id !== undefined && { hook_id: id }),
      ...{ url: urls, scope, campaigns, secret: used, organization: known?.organization },
    })
  },

  removeWebhook({ hook_id }, { service }) {
    if (!service.unregisterWebhook(hook_id)) missing('There is no such endpoint any more.')
    return null
  },

  async testWebhook({ account, hook_id }, { service, feed, clock }) {
    const webhook = service.webhooks.find((each) => hook_id === undefined || each.hook_id === hook_id)
    if (!webhook) throw new Problem('No endpoint is registered. Add one first.')
    const entry = entryOf(feed, account, webhook.campaigns[0])
    const at = clock.now()
    const named = { account, platform: platformOf(entry, account), pid: entry.pid, hook_id: webhook.hook_id }
    const result = await service.testWebhook(named)
    feed.addTest(result, webhook.hook_id, webhook.urls[0] ?? '', at)
    return result
  },

  emit({ kind, pid, account, item }, { service, feed }) {
    const entry = entryOf(feed, account, pid)
    const subject = { account, platform: platformOf(entry, account), pid }
    const { hook_ids } = feed.acting(() =>
      service.emit(kind === 'action_completed' ? { kind, ...subject, aid: item } : { kind, ...subject, cid: item }),
    )
    return { sent: hook_ids.length }
  },

  redeliver: ({ key }, { service, feed }) => ({ key: feed.acting(() => service.redeliver(key).deliveryId) }),

  addFault({ on, kind, times, status, delayMs }, { service }) {
    if (times !== null && !(Number.isInteger(times) && times >= 1)) {
      throw new Problem('Enter a whole number of at least 1, or leave it empty for every request.', 'times')
    }
    if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
      throw new Problem('Enter an HTTP status from 200 to 599.', 'status')
    }
    if (delayMs !== undefined && !(delayMs >= 0)) throw new Problem('Enter milliseconds of at least 0.', 'delayMs')
    const more = { ...(status !== undefined && { status }), ...(delayMs !== undefined && { delayMs }) }
    service.fail({ on, kind, times: times ?? Number.POSITIVE_INFINITY, ...more } as FaultOptions)
    return null
  },

  cancelFault({ key }, { service }) {
    const fault = service.faults.find(({ id }) => id === key) ?? missing('This fault is used up.')
    fault.cancel()
    return null
  },

  async advance({ ms, toNextRetry }, { service, clock }) {
    if (!toNextRetry) await clock.advance(ms ?? 0)
    else await clock.advanceTo(service.nextRetryAt ?? missing('No retry is due.'))
    return null
  },

  resetClock(_, { clock }) {
    clock.reset()
    return null
  },

  loadSeed({ seed }, { service, secret }) {
    service.reset(withSecret(seed, secret, service.webhooks))
    return { unsigned: service.webhooks.filter(({ secretMissing }) => secretMissing).map(({ hook_id }) => hook_id) }
  },

  reset(_, { service }) {
    service.reset()
    return null
  },
}

function missing(message: string): never {
  throw new Problem(message)
}

function requireUrls(urls: readonly string[], requireReachable: (url: string) => void): void {
  if (urls.length === 0) throw new Problem('Enter the URL of your endpoint.', 'urls')
  for (const url of urls) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new Problem(`"${url}" is not a URL. It begins with http:// or https://.`, 'urls')
    }
    try {
      requireReachable(url)
    } catch (error) {
      throw new Problem(plainMessage(error), 'urls')
    }
  }
}

/** The entry of an account. The Test tool asks for an ID only, not for a platform. */
function entryOf(feed: Feed, account: string, pid: string | undefined): EntrySnapshot {
  if (account === '') throw new Problem('Enter the account of a user.', 'account')
  const entry = feed.campaigns.entryOf(account, pid)
  const place = pid === undefined ? '' : ` in the campaign "${pid}"`
  if (!entry) throw new Problem(`There is no user "${account}"${place}.`, 'account')
  return entry
}

const platformOf = ({ platform, profiles, ...entry }: EntrySnapshot, account: string): string =>
  entry.account === account ? platform : (profiles.find((profile) => profile.account === account)?.platform ?? platform)

/** Errors of the service name its methods and options first: `completeTask: aid: …`. The user knows neither. */
export const plainMessage = (error: unknown): string =>
  error instanceof Error ? error.message.replace(/^[a-z]\w+: (?:[\w.[\]]+: )?/, '') : String(error)

/** Performs an action by name. @throws Problem in the user's words */
export async function performAction(name: string, request: unknown, parts: ActionParts): Promise<unknown> {
  if (!Object.hasOwn(ACTIONS, name)) missing(`There is no action "${name}".`)
  const checked = REQUESTS[name as ActionName].safeParse(request)
  if (!checked.success) {
    const [issue] = checked.error.issues
    return missing(`${name}: ${issue?.path.join('.') ?? 'request'}: ${issue?.message ?? 'wrong'}`)
  }
  // The request has just been read by the action's own schema.
  return (ACTIONS[name as ActionName] as (request: unknown, parts: ActionParts) => unknown)(checked.data, parts)
}
