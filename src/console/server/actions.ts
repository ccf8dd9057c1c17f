import type { $ZodIssue } from 'zod/v4/core'
import { ConfigurationError } from '../../errors/client-errors.ts'
import { describeAt, type Issue } from '../../shared/issue.ts'
import { isRecord } from '../../shared/type-checks.ts'
import type { CampaignService } from '../../testing/campaign-service.ts'
import type { FaultOptions } from '../../testing/faults/fault-options.ts'
import { isDefaultMessage } from '../../testing/option-readers.ts'
import type { ServiceSeed } from '../../testing/seed/seed.ts'
import type { EmitOptions } from '../../testing/webhooks/messages.ts'
import type { WebhookRecord } from '../../testing/webhooks/webhook-registry.ts'
import { ACTION_REQUESTS, type ActionName, type ActionRequest } from '../action-requests.ts'
import { type ActionResult, Problem } from '../protocol.ts'
import { type Caller, callMethod, methodViews } from './call.ts'
import { deliveryRow, explainAttempts, savedWebhook } from './delivery-view.ts'
import type { Feed } from './feed.ts'
import { deliveryToCurl } from './request-code.ts'

/** The objects that actions use. */
export interface ActionContext extends Caller {
  readonly service: CampaignService
  readonly feed: Feed
  /** The base URL at which the service listens. Its host is allowed. */
  readonly baseUrl: string
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
  listMethods: (_, context) => methodViews(context),

  callMethod: ({ name, given }, context) => callMethod(name, given, context),

  listUsers: ({ pid, find, limit }, { feed }) => feed.campaigns.list(pid, find, limit),

  readUser({ pid, platform, account }, { feed }) {
    const user = feed.campaigns.user(pid, platform, account) ?? fail('There is no such user.')
    return { ...user, progress: feed.progress.of(user.id) }
  },

  readRequest: ({ key }, { feed }) => feed.request(key) ?? fail('This request is no longer stored.'),

  readDelivery({ key }, context) {
    const delivery = context.feed.delivery(key) ?? fail('This delivery is no longer stored.')
    const { body, signature, isTest } = delivery
    return {
      ...deliveryRow(delivery),
      body,
      attemptsMade: explainAttempts(delivery, context),
      ...(signature !== undefined && { signature }),
      // The signature of the Test tool's message is not known here.
      ...(!isTest && { curl: deliveryToCurl(delivery) }),
    }
  },

  completeTask({ aid, ...given }, { service, feed, clock }) {
    const user = findUser(service, given)
    const { account, platform, pid } = user
    const values = { task: aid, 'user ID': account, platform, campaign: pid }
    const action = { title: 'Task completed', subject: account, item: aid, platform, pid, values, at: clock.now() }
    const messages = new Set<string>()
    let completed = false
    const unsubscribe = service.subscribe((event) => {
      if (event.kind === 'state_changed') completed = true
      if (event.kind === 'delivery_changed') messages.add(event.delivery.id)
    })
    try {
      feed.runAction(() => service.completeTask({ ...user, aid }), action)
    } finally {
      unsubscribe()
    }
    return { completed, messages: [...messages] }
  },

  saveWebhook({ hook_id, urls, scope, secret: entered, campaigns }, { service, secret, ...context }) {
    const { campaigns: existing = [] } = service.exportSeed()
    const known = savedWebhook(service, hook_id)
    for (const url of urls) requireUrl(url, context)
    const unknown = campaigns?.find((pid) => !existing.some(({ id }) => id === pid))
    if (unknown !== undefined) fail(`There is no campaign "${unknown}".`, 'campaigns')
    // Empty: no secret. Absent: the secret that the webhook has, or the default secret for a new webhook.
    const used = entered === '' ? undefined : (entered ?? (known ? known.secret : secret))
    return service.registerWebhook({
      ...(hook_id && { hook_id }),
      url: urls,
      secret: used,
      organization: known?.organization,
      scope: scope ?? known?.scope,
      campaigns: campaigns ?? known?.campaigns,
    })
  },

  removeWebhook({ hook_id }, { service }) {
    if (!service.unregisterWebhook(hook_id)) fail(`There is no webhook "${hook_id}".`, 'hook_id')
    return null
  },

  async testWebhook({ hook_id: chosen, url: chosenUrl, ...given }, { service, feed, clock }) {
    const webhook = service.webhooks.find((each) => chosen === undefined || each.hook_id === chosen)
    const absence = chosen === undefined ? 'No webhook is registered.' : `There is no webhook "${chosen}".`
    const { hook_id, urls, campaigns } = webhook ?? fail(absence, 'hook_id')
    const url = chosenUrl ?? (urls[0] as string)
    if (!urls.includes(url)) fail(`The webhook "${hook_id}" does not have the URL "${url}".`, 'url')
    const [onlyCampaign] = campaigns.length === 1 ? campaigns : []
    const user = findUser(service, { pid: onlyCampaign, ...given })
    const at = clock.now()
    const result = await service.testWebhook({ ...user, hook_id, url })
    feed.addTest(result, hook_id, url, at, clock.now())
    return result
  },

  emit({ kind, account, platform, pid, ...fields }, { service, feed }) {
    const user =
      kind === 'custom'
        ? { account, platform, pid }
        : findUser(service, { account: account ?? fail('"account" is required.', 'account'), platform, pid })
    const given = Object.entries({ kind, ...user, ...fields }).filter(([, value]) => value !== undefined)
    const { id, deliveryIds } = feed.runAction(() => service.emit(Object.fromEntries(given) as EmitOptions))
    return { messageId: id, deliveries: deliveryIds }
  },

  redeliver: ({ key }, { service, feed }) => ({ key: feed.runAction(() => service.redeliver(key).deliveryId) }),

  addFault({ times, ...fault }, { service }) {
    const count = times === null ? Infinity : times
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

  findInBodies: ({ list, words }, { feed }) => words.map((word) => ({ word, keys: feed.findInBodies(list, word) })),

  clearRows: ({ list, keys }, { feed }) => ({ cleared: feed.clear(list, keys) }),

  restoreRows({ list }, { feed }) {
    if (!feed.restore(list)) fail('The cleared rows are no longer stored.')
    return null
  },
}

function fail(message: string, field?: string): never {
  throw new Problem(message, field)
}

function requireUrl(url: string, { requireReachable }: Pick<ActionContext, 'requireReachable'>): void {
  if (!/^https?:\/\//i.test(url)) fail(`"${url}" is not a URL that begins with http:// or https://.`, 'urls')
  if (!URL.canParse(url)) fail(`"${url}" is not a valid URL: check its host and its port.`, 'urls')
  const { username, password } = new URL(url)
  if (username || password) fail('A URL must not contain a user name or a password.', 'urls')
  try {
    requireReachable(url)
  } catch (error) {
    fail(plainMessage(error), 'urls')
  }
}

interface GivenUser {
  readonly account: string
  readonly platform?: string | undefined
  readonly pid?: string | undefined
}

/** Finds the entry of an account. Campaign and platform may be left out where the account has one entry only. */
function findUser(service: CampaignService, { account, platform, pid }: GivenUser) {
  const found = service.state.entries.flatMap((entry) =>
    entry.profiles
      .filter((profile) => profile.account === account && (platform === undefined || profile.platform === platform))
      .filter(() => pid === undefined || entry.pid === pid)
      .map((profile) => ({ account, platform: profile.platform, pid: entry.pid })),
  )
  const [user, another] = found
  if (user === undefined) {
    const where = [platform !== undefined && ` on "${platform}"`, pid !== undefined && ` in the campaign "${pid}"`]
    return fail(`There is no user "${account}"${where.filter(Boolean).join('')}.`, 'account')
  }
  if (another === undefined) return user
  const missing = found.some((each) => each.pid !== user.pid) ? 'pid' : 'platform'
  const choices = [...new Set(found.map((each) => each[missing]))].join('", "')
  return fail(`"${account}" has several entries: set "${missing}" to one of "${choices}".`, missing)
}

/** Returns the message of an error. For wrong options, it lists the issues: the page has a field for each. */
export function plainMessage(error: unknown): string {
  if (!(error instanceof ConfigurationError)) return error instanceof Error ? error.message : String(error)
  const sentenceOf = ({ path, message }: Issue): string =>
    /^(?:there|the) /.test(message) || path.length === 0 ? message : describeAt(path.join('.'), message)
  return error.issues.map(sentenceOf).join('; ')
}

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

/** Describes an issue, with the name of its field. */
function describeIssue(issue: $ZodIssue, request: unknown, fields: readonly string[]): string {
  const path = issue.path.join('.')
  const { code, message } = issue
  if (code === 'unrecognized_keys') {
    return `"${issue.keys.join('", "')}" is not a field. The fields are: ${fields.join(', ') || 'none'}.`
  }
  if (code === 'invalid_value') return `"${path}" must be one of: ${issue.values.join(', ')}.`
  // A message of the page's forms is a sentence; a message of the service's options follows the name.
  if (code !== 'invalid_type' || !isDefaultMessage(issue)) {
    return /^[A-Z]/.test(message) ? message : `${describeAt(path, message)}.`
  }
  if (path === '') return 'Send a JSON object.'
  return Object.hasOwn(request as object, path) || issue.path.length > 1
    ? `"${path}" must be ${TYPES[issue.expected] ?? issue.expected}.`
    : `"${path}" is required.`
}

/**
 * Prepares a seed for the service. Removes `$schema`, which editors read, and sets the secret of signed webhooks that have none.
 * Registered webhooks keep their own secrets.
 *
 * @throws Error when the seed is not a JSON object; the service checks its content
 */
export function prepareSeed(
  seed: unknown,
  secret: string | undefined,
  registered: readonly WebhookRecord[] = [],
): ServiceSeed {
  if (!isRecord(seed)) throw new Error('A seed is a JSON object. "Save seed" writes one.')
  const { $schema, ...content } = seed
  const { webhooks } = content
  if (!Array.isArray(webhooks) || secret === undefined) return content as ServiceSeed
  const kept = new Set<unknown>(registered.filter(({ signed }) => signed).map(({ hook_id }) => hook_id))
  const lacksSecret = (webhook: Record<string, unknown>) =>
    webhook.signed === true && webhook.secret === undefined && !kept.has(webhook.hook_id)
  const withSecret = (webhook: unknown) =>
    isRecord(webhook) && lacksSecret(webhook) ? { ...webhook, secret } : webhook
  return { ...content, webhooks: webhooks.map(withSecret) } as ServiceSeed
}
