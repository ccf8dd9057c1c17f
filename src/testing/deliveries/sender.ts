import { anything, type OptionRules, requireOptions } from '../../shared/options.ts'
import type { Campaign, Entry } from '../world/campaign.ts'
import type { ServiceEvent } from '../world/event.ts'
import type { IdSource } from '../world/identifiers.ts'
import type { ServiceState } from '../world/state.ts'
import { type Deliveries, signatureOf } from './delivery-queue.ts'
import { type Draft, draftMessage, draftTestMessage, USER_ACTIVITY } from './message.ts'
import { type PostSettings, post } from './post.ts'
import type { Webhook, WebhookRegistry } from './webhook-registry.ts'

/** The user an emitted event is about. */
interface EmittedFor {
  /** Account identifier of a user who has an entry in the campaign. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Campaign ID. */
  pid: string
  /** XP the event tells of. Default: what the task or quest gives the user. */
  xp?: number | undefined
}

/** What `service.emit` takes. */
export type EmitOptions =
  | (EmittedFor & {
      kind: 'action_completed'
      /** Task ID. */
      aid: string
    })
  | (EmittedFor & {
      kind: 'quest_completed'
      /** Quest ID. */
      cid: string
    })
  | {
      kind: 'custom'
      /** The payload. An `id` is made up, and the `scope` put in, where it has none of its own. */
      payload: Readonly<Record<string, unknown>>
      /** Webhooks of this scope get it. Default: the payload's `scope`, or else `'user_activity'`. */
      scope?: string | undefined
      /** The campaign it belongs to. Default: none, so that webhooks restricted to campaigns don't get it. */
      pid?: string | undefined
    }

type EmittedKind = EmitOptions['kind']

const EMITTED: { readonly [Kind in EmittedKind]: OptionRules<Extract<EmitOptions, { kind: Kind }>> } = {
  action_completed: {
    kind: anything,
    account: anything,
    platform: anything,
    pid: anything,
    xp: anything,
    aid: anything,
  },
  quest_completed: {
    kind: anything,
    account: anything,
    platform: anything,
    pid: anything,
    xp: anything,
    cid: anything,
  },
  custom: { kind: anything, payload: anything, scope: anything, pid: anything },
}

/** A message that was handed to the webhooks it is for. */
export interface EmittedMessage {
  /** ID of the message. */
  readonly id: string
  /** The payload, byte for byte as it is sent. */
  readonly body: string
  /** The webhooks it goes to. */
  readonly hook_ids: readonly string[]
}

/** What `service.testWebhook` takes. */
export interface TestWebhookOptions {
  /** Account identifier of a user who has an entry in the campaign. */
  account: string
  /** Platform of the account. */
  platform: string
  /** Campaign ID. Default: the webhook's first campaign, or else the service's first. */
  pid?: string | undefined
  /** The webhook. Default: the one registered first. */
  hook_id?: string | undefined
  /** Which of the webhook's endpoints. Default: its first. */
  url?: string | undefined
}

const TEST_WEBHOOK: OptionRules<TestWebhookOptions> = {
  account: anything,
  platform: anything,
  pid: anything,
  hook_id: anything,
  url: anything,
}

/** The result of the panel's Test button, under the names the panel shows. Interface: Events, Test tool. */
export interface TestWebhookResult {
  /** Whether the service could send the message: the endpoint answered, whatever it said. */
  readonly Success: boolean
  /** HTTP status of the endpoint's answer; 200 means success; 0 when there was none (assumed). */
  readonly Status: number
  /** The beginning of the endpoint's answer, or the text of the error. */
  readonly Data: string
  /** The exact JSON that was sent. */
  readonly Payload: string
}

/** Makes messages of events and hands each to the webhooks that apply. */
export class WebhookSender {
  readonly #state: ServiceState
  readonly #registry: WebhookRegistry
  readonly #deliveries: Deliveries
  readonly #ids: IdSource

  constructor(state: ServiceState, registry: WebhookRegistry, deliveries: Deliveries, ids: IdSource) {
    this.#state = state
    this.#registry = registry
    this.#deliveries = deliveries
    this.#ids = ids
  }

  /** Tells the webhooks of something that happened. */
  announce(event: ServiceEvent): void {
    // A message costs a ranking: it is only made where somebody wants it.
    if (this.#registry.isEmpty) return
    this.#dispatch(draftMessage(event))
  }

  /** @throws TypeError when it names what is not there. */
  emit(options: EmitOptions): EmittedMessage {
    return this.#dispatch(this.#draft(options))
  }

  /** Sends the panel's Test message, once. Rejects with TypeError when the options name what is not there. */
  async test(options: TestWebhookOptions, settings: PostSettings): Promise<TestWebhookResult> {
    requireOptions('testWebhook', options, TEST_WEBHOOK)
    const webhook = this.#requireWebhook(options.hook_id)
    const url = options.url ?? (webhook.urls[0] as string)
    if (!webhook.urls.includes(url)) throw new TypeError(`testWebhook: "${webhook.hook_id}" has no such url`)
    const [firstCampaign] = webhook.campaigns.size > 0 ? webhook.campaigns : this.#state.campaigns.keys()
    const { campaign, entry } = this.#requireEntry({ pid: firstCampaign ?? '', ...definedOnly(options) }, 'testWebhook')
    const { body } = this.#seal(draftTestMessage(campaign, entry, options.account))
    const work = post({ url, body, signature: signatureOf(webhook, body) }, settings)
    settings.clock.track?.(work)
    const { status, answer, error } = await work
    return { Success: status !== undefined, Status: status ?? 0, Data: error ?? answer ?? '', Payload: body }
  }

  #draft(options: EmitOptions): Draft {
    const kind = options?.kind
    if (!Object.hasOwn(EMITTED, kind)) {
      throw new TypeError('emit: kind must be action_completed, quest_completed or custom')
    }
    requireOptions(`emit of kind ${kind}`, options, EMITTED[kind])
    if (kind === 'custom') return this.#draftCustom(options)
    const { campaign, entry } = this.#requireEntry(options, 'emit')
    const origin = { campaign, entry, account: options.account }
    const { tasks, quests } = campaign.definition
    const worth = (item: { xp: number; xp_mul: number }): number => options.xp ?? item.xp * item.xp_mul * entry.xp_mul
    if (kind === 'action_completed') {
      const item = tasks.get(options.aid)
      if (!item) throw new TypeError(`emit: aid: there is no task "${options.aid}" in "${options.pid}"`)
      return draftMessage({ ...origin, kind, item, xp: worth(item) })
    }
    const item = quests.get(options.cid)
    if (!item) throw new TypeError(`emit: cid: there is no quest "${options.cid}" in "${options.pid}"`)
    return draftMessage({ ...origin, kind, item, xp: worth(item) })
  }

  #draftCustom({ payload, scope, pid }: Extract<EmitOptions, { kind: 'custom' }>): Draft {
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
      throw new TypeError('emit: payload must be an object')
    }
    const campaign = pid === undefined ? undefined : this.#state.campaigns.get(pid)
    if (pid !== undefined && !campaign) throw new TypeError(`emit: pid: there is no campaign "${pid}"`)
    const own = typeof payload.scope === 'string' ? payload.scope : USER_ACTIVITY
    const address = { scope: scope ?? own, pid, organization: campaign?.definition.organization }
    return { address, payload: { scope: address.scope, ...payload } }
  }

  #dispatch(draft: Draft): EmittedMessage {
    const { id, body } = this.#seal(draft)
    const webhooks = this.#registry.applicable(draft.address)
    for (const webhook of webhooks) this.#deliveries.send(webhook, id, body)
    return { id, body, hook_ids: webhooks.map(({ hook_id }) => hook_id) }
  }

  /** One ID and one text for all endpoints. A payload that brings its own `id`, even an unusable one, keeps it. */
  #seal({ payload }: Draft): { id: string; body: string } {
    const id = this.#ids.uuid()
    const sealed: Record<string, unknown> = { id, ...payload }
    return { id: typeof sealed.id === 'string' ? sealed.id : id, body: JSON.stringify(sealed) }
  }

  #requireWebhook(hookId: string | undefined): Webhook {
    const webhook = hookId === undefined ? this.#registry.first() : this.#registry.find(hookId)
    if (webhook) return webhook
    throw new TypeError(
      hookId === undefined ? 'testWebhook: no webhook is registered' : `testWebhook: there is no webhook "${hookId}"`,
    )
  }

  #requireEntry(
    { pid, account, platform }: { pid: string; account: string; platform: string },
    caller: string,
  ): { campaign: Campaign; entry: Entry } {
    const campaign = this.#state.campaigns.get(pid)
    if (!campaign) throw new TypeError(`${caller}: pid: there is no campaign "${pid}"`)
    const user = this.#state.users.find(account, platform)
    const entry = user && campaign.find(user)
    if (!entry) throw new TypeError(`${caller}: there is no user "${account}" on "${platform}" in "${pid}"`)
    return { campaign, entry }
  }
}

const definedOnly = ({ account, platform, pid }: TestWebhookOptions) => ({
  account,
  platform,
  ...(pid !== undefined && { pid }),
})
