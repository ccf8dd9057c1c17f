import type { CampaignService, FaultOptions } from 'campaign-client/testing'
import type { $ZodIssue } from 'zod/v4/core'
import { ACTION_REQUESTS, type ActionName, type ActionRequest } from '../action-requests.ts'
import { Problem } from '../problem.ts'
import type { ActionResult } from '../protocol.ts'
import { deliveryToCurl } from './curl.ts'
import { deliveryRow, type Feed } from './feed.ts'
import { prepareSeed } from './seed.ts'

/** The objects that actions use. */
export interface ActionContext {
  readonly service: CampaignService
  readonly feed: Feed
  readonly clock: {
    now(): number
    advance(ms: number): Promise<void>
    advanceTo(timeMs: number): Promise<void>
    reset(): void
  }
  /** The default secret of a new webhook. */
  readonly secret: string | undefined
  /** @throws Error when messages must not be sent to this URL */
  requireReachable(url: string): void
}

type Actions = {
  readonly [Name in ActionName]: (
    request: ActionRequest<Name>,
    context: ActionContext,
  ) => ActionResult<Name> | Promise<ActionResult<Name>>
}

const ACTIONS: Actions = {
  listUsers: ({ pid, find, limit }, { feed }) => feed.campaigns.list(pid, find, limit),

  readUser: ({ pid, platform, account }, { feed }) =>
    feed.campaigns.user(pid, platform, account) ?? fail('There is no such user.'),

  readRequest: ({ key }, { feed }) => feed.request(key) ?? fail('This request is no longer stored.'),

  readDelivery({ key }, { feed }) {
    const delivery = feed.delivery(key) ?? fail('This delivery is no longer stored.')
    const { body, signature, attempts, isTest } = delivery
    return {
      ...{ ...deliveryRow(delivery), body, attemptsMade: attempts },
      ...(signature !== undefined && { signature }),
      // The signature of the Test tool's message is not known here.
      ...(!isTest && { curl: deliveryToCurl(delivery) }),
    }
  },

  completeTask(request, { service, feed, clock }) {
    const { account, platform, pid, aid } = request
    const values = { task: aid, 'user ID': account, platform, campaign: pid }
    const action = { title: 'Task completed', subject: account, pid, values, at: clock.now() }
    feed.runAction(() => service.completeTask(request), action)
    return null
  },

  saveWebhook({ hook_id, newId, urls, scope, secret: entered, campaigns }, { service, secret, ...context }) {
    const { webhooks = [], campaigns: existing = [] } = service.exportSeed({ secrets: true })
    const known = webhooks.find((webhook) => webhook.hook_id === hook_id)
    if (hook_id !== undefined && !known) fail(`There is no webhook "${hook_id}".`, 'hook_id')
    if (newId && webhooks.some((webhook) => webhook.hook_id === newId)) {
      fail(`Another webhook has the ID "${newId}".`, 'newId')
    }
    for (const url of urls) requireUrl(url, context)
    const unknown = campaigns?.find((pid) => !existing.some(({ id }) => id === pid))
    if (unknown !== undefined) fail(`There is no campaign "${unknown}".`, 'campaigns')
    const used = entered === '' ? undefined : (entered ?? (known ? known.secret : secret))
    const id = hook_id ?? newId
    return service.registerWebhook({
      ...(id && { hook_id: id }),
      ...{ url: urls, secret: used, organization: known?.organization },
      ...{ scope: scope ?? known?.scope, campaigns: campaigns ?? known?.campaigns },
    })
  },

  removeWebhook({ hook_id }, { service }) {
    if (!service.unregisterWebhook(hook_id)) fail(`There is no webhook "${hook_id}".`, 'hook_id')
    return null
  },

  async testWebhook({ account, hook_id: chosen, url: chosenUrl }, { service, feed, clock }) {
    const webhook = service.webhooks.find((each) => chosen === undefined || each.hook_id === chosen)
    const absence = chosen === undefined ? 'No webhook is registered.' : `There is no webhook "${chosen}".`
    const { hook_id, urls, campaigns } = webhook ?? fail(absence, 'hook_id')
    const url = chosenUrl ?? (urls[0] as string)
    if (!urls.includes(url)) fail(`The webhook "${hook_id}" does not have the URL "${url}".`, 'url')
    const user = findUser(service, account, campaigns[0])
    const at = clock.now()
    const result = await service.testWebhook({ ...user, hook_id, url })
    feed.addTest(result, hook_id, url, at)
    return result
  },

  emit({ kind, pid, account, item }, { service, feed }) {
    const user = findUser(service, account, pid)
    const { id, deliveryIds } = feed.runAction(() =>
      service.emit(kind === 'action_completed' ? { kind, ...user, aid: item } : { kind, ...user, cid: item }),
    )
    return { messageId: id, deliveries: deliveryIds }
  },

  redeliver: ({ key }, { service, feed }) => ({ key: feed.runAction(() => service.redeliver(key).deliveryId) }),

  addFault({ times, ...fault }, { service }) {
    const count = times === null ? Number.POSITIVE_INFINITY : times
    return { key: service.fail({ ...fault, ...(count !== undefined && { times: count }) } as FaultOptions).id }
  },

  cancelFault({ key }, { service }) {
    const fault =
      service.faults.find(({ id }) => id === key) ?? fail(`There is no fault "${key}", or it is already off.`, 'key')
    fault.cancel()
    return null
  },

  async advance({ ms }, { clock }) {
    await clock.advance(ms)
    return null
  },

  async advanceToNextRetry(_, { service, clock }) {
    await clock.advanceTo(service.nextRetryAt ?? fail('No retry is scheduled.'))
    return null
  },

  resetClock(_, { clock }) {
    clock.reset()
    return null
  },

  loadSeed({ seed }, { service, secret }) {
    service.reset(prepareSeed(seed, secret, service.webhooks))
    return { unsigned: service.webhooks.filter(({ secretMissing }) => secretMissing).map(({ hook_id }) => hook_id) }
  },

  reset(_, { service }) {
    service.reset()
    return null
  },

  emptyList({ list }, { feed }) {
    feed.empty(list)
    return null
  },
}

function fail(message: string, field?: string): never {
  throw new Problem(message, field)
}

function requireUrl(url: string, { requireReachable }: Pick<ActionContext, 'requireReachable'>): void {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    fail(`"${url}" is not a URL that begins with http:// or https://.`, 'urls')
  }
  try {
    requireReachable(url)
  } catch (error) {
    fail(plainMessage(error), 'urls')
  }
}

/** Finds the user with an account, on any platform, in the given campaign or in any campaign. */
function findUser(service: CampaignService, account: string, pid: string | undefined) {
  for (const entry of service.state.entries) {
    const profile = entry.profiles.find((each) => each.account === account)
    if (profile && (pid === undefined || entry.pid === pid)) return { ...profile, pid: entry.pid }
  }
  return fail(`There is no user "${account}"${pid === undefined ? '' : ` in the campaign "${pid}"`}.`, 'account')
}

/** Returns the message of an error, without the names of a method and an option at its start. */
export const plainMessage = (error: unknown): string =>
  error instanceof Error
    ? error.message.replace(/^[a-z]\w+(?: on delivery)?(?: of kind \w+)?: (?:[\w.[\]]+: (?!expected))?/, '')
    : String(error)

/** Performs an action by name. @throws Problem when the action fails */
export async function performAction(name: string, request: unknown, context: ActionContext): Promise<unknown> {
  if (!Object.hasOwn(ACTIONS, name)) fail(`There is no action "${name}".`)
  const schema = ACTION_REQUESTS[name as ActionName]
  const { data, error } = schema.safeParse(request)
  const [issue] = error?.issues ?? []
  if (issue) fail(describeIssue(issue, request, Object.keys(schema.shape)), issue.path[0]?.toString())
  return (ACTIONS[name as ActionName] as (request: unknown, context: ActionContext) => unknown)(data, context)
}

/** The types of values, as zod calls them, in words. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  record: 'an object',
}

/** Describes an issue that has no message of its own. */
function describeIssue(issue: $ZodIssue, request: unknown, fields: readonly string[]): string {
  const path = issue.path.join('.')
  switch (issue.code) {
    case 'unrecognized_keys':
      return `"${issue.keys.join('", "')}" is not a field. The fields are: ${fields.join(', ') || 'none'}.`
    case 'invalid_type':
      // zod's own message, which is longer when the process has loaded all of zod.
      if (!/^Invalid input(?:: expected |$)/.test(issue.message)) return issue.message
      if (path === '') return 'Send a JSON object.'
      return Object.hasOwn(request as object, path) || issue.path.length > 1
        ? `"${path}" must be ${TYPES[issue.expected] ?? issue.expected}.`
        : `"${path}" is required.`
    case 'invalid_value':
      return `"${path}" must be one of: ${issue.values.join(', ')}.`
    default:
      return issue.message
  }
}
