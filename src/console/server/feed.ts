import type {
  CampaignService,
  DeliveryRecord,
  RequestAnsweredEvent,
  RequestRecord,
  ServiceEvent,
} from 'campaign-client/testing'
import type { DeliveryRow, FaultView, RequestRow, Setup, Update, WebhookView } from '../protocol.ts'
import { Campaigns } from './campaigns.ts'
import type { EventStream } from './event-stream.ts'
import { Recent } from './recent.ts'

/** The rows that are kept for the page. */
const MAX_ROWS = 2000
/** Changes are told together: a thousand calls a second must not be a thousand events. */
const TOGETHER_MS = 100

interface Changes {
  afresh: boolean
  readonly requests: Map<number, RequestRow>
  readonly deliveries: Map<string, DeliveryRow>
  webhooks: boolean
  faults: boolean
  users: boolean
  clock: boolean
}

const none = (): Changes => ({
  afresh: false,
  requests: new Map(),
  deliveries: new Map(),
  webhooks: false,
  faults: false,
  users: false,
  clock: false,
})

export type Exchange = Pick<RequestAnsweredEvent, 'request' | 'answer'>

/** What happens in the service, remembered for the page and told to those who watch. */
export class Feed {
  readonly campaigns = new Campaigns()
  readonly #service: CampaignService
  readonly #stream: EventStream
  readonly #setup: Setup
  readonly #now: () => number
  readonly #unsubscribe: () => void
  readonly #requests = new Recent<number, Exchange>(MAX_ROWS)
  readonly #deliveries = new Recent<string, DeliveryRecord>(MAX_ROWS)
  #changes = none()
  #timer: ReturnType<typeof setTimeout> | undefined
  #usersRevision = 1

  constructor(service: CampaignService, stream: EventStream, setup: Setup, now: () => number) {
    this.#service = service
    this.#stream = stream
    this.#setup = setup
    this.#now = now
    this.#readCampaigns()
    for (const request of service.requests) this.#requests.set(request.id, { request })
    for (const delivery of service.deliveries) this.#deliveries.set(delivery.deliveryId, delivery)
    this.#unsubscribe = service.subscribe((event) => this.#note(event))
  }

  /** Everything there is to show. */
  everything(): Update {
    return {
      setup: this.#setup,
      afresh: true,
      requests: this.#requests.values().map(({ request }) => requestRow(request)),
      deliveries: this.#deliveries.values().map(deliveryRow),
      ...this.#rest({ webhooks: true, faults: true, users: true, clock: true }),
    }
  }

  request(id: number): Exchange | undefined {
    return this.#requests.get(id)
  }

  delivery(id: string): DeliveryRecord | undefined {
    return this.#deliveries.get(id)
  }

  close(): void {
    this.#unsubscribe()
    clearTimeout(this.#timer)
  }

  #readCampaigns(): void {
    this.campaigns.reset(this.#service.exportSeed().campaigns ?? [], this.#service.state.entries)
  }

  #note(event: ServiceEvent): void {
    switch (event.kind) {
      case 'request_answered':
        this.#requests.set(event.request.id, event)
        this.#changes.requests.set(event.request.id, requestRow(event.request))
        break
      case 'delivery_changed':
        this.#deliveries.set(event.delivery.deliveryId, event.delivery)
        this.#changes.deliveries.set(event.delivery.deliveryId, deliveryRow(event.delivery))
        this.#changes.clock = true
        break
      case 'state_changed':
        this.campaigns.change(event.changed.entries)
        this.#changes.users = true
        break
      case 'webhook_changed':
        this.#changes.webhooks = true
        break
      case 'fault_changed':
        this.#changes.faults = true
        break
      case 'clock_moved':
        this.#changes.clock = true
        break
      case 'reset':
        this.#requests.clear()
        this.#deliveries.clear()
        this.#readCampaigns()
        this.#changes = { ...none(), afresh: true, webhooks: true, faults: true, users: true, clock: true }
        break
      default:
        return
    }
    this.#timer ??= setTimeout(() => this.#tell(), TOGETHER_MS)
  }

  #tell(): void {
    this.#timer = undefined
    const changes = this.#changes
    this.#changes = none()
    if (changes.users) this.#usersRevision++
    if (this.#stream.isEmpty) return
    const { afresh, requests, deliveries } = changes
    this.#stream.tell({
      ...(afresh && { afresh }),
      ...(requests.size > 0 && { requests: [...requests.values()] }),
      ...(deliveries.size > 0 && { deliveries: [...deliveries.values()] }),
      ...this.#rest(changes),
    })
  }

  #rest({ webhooks, faults, users, clock }: Pick<Changes, 'webhooks' | 'faults' | 'users' | 'clock'>): Update {
    return {
      ...(webhooks && { webhooks: this.#service.webhooks.map(webhookView) }),
      ...(faults && { faults: this.#service.faults.map(faultView) }),
      ...(users && { campaigns: this.campaigns.views(), usersRevision: this.#usersRevision }),
      ...(clock && { clock: this.#clock() }),
    }
  }

  #clock(): NonNullable<Update['clock']> {
    const now = this.#now()
    const { nextRetryAt } = this.#service
    return { now, aheadMs: now - Date.now(), ...(nextRetryAt !== undefined && { nextRetryAt }) }
  }
}

export const requestRow = ({ id, at, method, path, operation, status, reason, fault }: RequestRecord): RequestRow => ({
  number: id,
  at,
  method,
  path,
  ...(operation !== undefined && { operation }),
  ...(status !== undefined && { status }),
  ...(reason !== undefined && { reason }),
  ...(fault !== undefined && { fault }),
})

export function deliveryRow(record: DeliveryRecord): DeliveryRow {
  const { deliveryId, id, hook_id, url, body, state, attempts, nextAttemptAt } = record
  return {
    key: deliveryId,
    id,
    hook_id,
    url,
    ...subjectOf(body),
    state,
    attempts,
    ...(nextAttemptAt !== undefined && { nextAttemptAt }),
  }
}

/** What a message tells of. It may be of anybody's making. */
function subjectOf(body: string): { type: string; user: string } {
  const { scope, user, event } = JSON.parse(body)
  const type: unknown = typeof event === 'object' && event !== null ? event.type : undefined
  return {
    type: typeof type === 'string' ? type : typeof scope === 'string' ? scope : 'message',
    user: typeof user === 'string' ? user : '',
  }
}

const webhookView = ({ hook_id, scope, urls, signed, campaigns }: WebhookView): WebhookView => ({
  hook_id,
  scope,
  urls,
  signed,
  campaigns,
})

function faultView({ id, options, remaining }: CampaignService['faults'][number]): FaultView {
  const { kind, on = '*' } = options
  const times = remaining === Number.POSITIVE_INFINITY ? null : remaining
  return {
    key: id,
    kind,
    on,
    remaining: times,
    ...('status' in options && options.status !== undefined && { status: options.status }),
    ...('delayMs' in options && options.delayMs !== undefined && { delayMs: options.delayMs }),
  }
}
