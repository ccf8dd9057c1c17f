import { randomUUID } from 'node:crypto'
import type { CampaignService, DeliveryRecord, ServiceEvent, TestWebhookResult } from 'campaign-client/testing'
import {
  type Changes,
  type DeliveryRow,
  type FaultView,
  MAX_ROWS,
  type RequestRow,
  type RequestView,
  type Setup,
} from '../protocol.ts'
import { Campaigns } from './campaigns.ts'
import { type Exchange, ExchangeLog } from './exchange-log.ts'
import { Recent } from './recent.ts'
import { requestRow, shorten } from './request-rows.ts'

export interface FeedOptions {
  readonly service: CampaignService
  readonly setup: Setup
  /** Milliseconds that the service's clock is ahead of the machine's. */
  readonly aheadMs: () => number
  /** Calls back when the current answer ends, with the duration of its request in milliseconds. */
  readonly onAnswerEnd: (ended: (durationMs: number) => void) => void
}

/** A delivery as the service describes it, or a message of the Test tool in the same form. */
type Delivery = Omit<DeliveryRecord, 'deliveryId'> & Pick<DeliveryRow, 'key' | 'isFromConsole' | 'isTest'>

/** Keeps the recent events of the service. The page polls it for the changes since a revision. */
export class Feed {
  readonly campaigns = new Campaigns()
  readonly #options: FeedOptions
  readonly #unsubscribe: () => void
  readonly #requests = new Recent<RequestRow>(MAX_ROWS)
  readonly #exchanges = new ExchangeLog()
  readonly #deliveries = new Recent<Delivery>(MAX_ROWS)
  readonly #madeHere = new Set<string>()
  /** Part of each revision: a revision of another process is unknown here, and the page gets everything. */
  readonly #process = randomUUID()
  /** Increases with each change. The fields below hold the revision of the last change of their kind. */
  #revision = 1
  #start = 1
  #webhooks = 1
  #faults = 1
  #users = 1
  #isActing = false
  #actions = 0

  constructor(options: FeedOptions) {
    this.#options = options
    this.#readCampaigns()
    this.#unsubscribe = options.service.subscribe((event) => this.#note(event))
  }

  /** Returns the changes since a revision; everything if the revision is unknown or older than the last reset. */
  changesSince(known: string): Changes {
    const [process, number] = known.split('.')
    const isKnown = process === this.#process && Number(number) >= this.#start
    const since = isKnown ? Number(number) : 0
    const { service, setup, aheadMs } = this.#options
    const requests = this.#requests.since(since)
    const deliveries = this.#deliveries.since(since)
    return {
      revision: `${this.#process}.${this.#revision}`,
      ...(!isKnown && { isAfresh: true, setup }),
      ...(requests.length > 0 && { requests }),
      ...(deliveries.length > 0 && { deliveries: deliveries.map(deliveryRow) }),
      ...(this.#webhooks > since && { webhooks: service.webhooks }),
      ...(this.#faults > since && { faults: service.faults.map(faultView) }),
      ...(this.#users > since && { campaigns: this.campaigns.views(), usersRevision: this.#users }),
      discarded: service.discarded,
      aheadMs: aheadMs(),
    }
  }

  request(key: string): RequestView | undefined {
    const row = this.#requests.get(key)
    return row && { ...row, ...this.#exchanges.view(key) }
  }

  delivery(key: string): Delivery | undefined {
    return this.#deliveries.get(key)
  }

  /** Runs `work` and marks the deliveries it makes as made in the console. */
  acting<Result>(work: () => Result): Result {
    this.#isActing = true
    try {
      return work()
    } finally {
      this.#isActing = false
    }
  }

  /** Adds an action of the console to the requests. */
  addAction(title: string, subject: string, pid: string, given: Readonly<Record<string, string>>, at: number): void {
    const key = `console-${++this.#actions}`
    const text = `console ${title} ${Object.values(given).join(' ')}`.toLowerCase()
    const row = { key, at, isFromConsole: true, method: '', path: '', operation: title, subject, pid, text }
    const query = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value]]))
    this.#exchanges.add(key, { query, headers: {}, authorized: true, handled: true })
    this.#requests.set(key, row, ++this.#revision)
  }

  /** Adds a message of the Test tool to the deliveries. */
  addTest({ Payload, Status, Success, Data }: TestWebhookResult, hook_id: string, url: string, at: number): void {
    const key = `test-${++this.#actions}`
    const { id } = JSON.parse(Payload) as { id: string }
    const ok = Status >= 200 && Status < 300
    const attempt = { at, ok, ...(Success ? { status: Status, answer: Data } : { error: Data }) }
    const state = ok ? 'delivered' : 'undelivered'
    const delivery = { key, id, at, hook_id, url, body: Payload, state, attempts: [attempt] } as const
    this.#deliveries.set(key, { ...delivery, isFromConsole: true, isTest: true }, ++this.#revision)
  }

  close(): void {
    this.#unsubscribe()
  }

  #readCampaigns(): void {
    const { service } = this.#options
    this.campaigns.reset(service.exportSeed().campaigns ?? [], service.state.entries)
  }

  #note(event: ServiceEvent): void {
    const revision = ++this.#revision
    switch (event.kind) {
      case 'request_answered':
        this.#addRequest(event)
        return
      case 'delivery_changed':
        this.#setDelivery(event.delivery)
        return
      case 'state_changed':
        this.campaigns.change(event.changed.entries)
        this.#users = revision
        return
      case 'webhook_changed':
        this.#webhooks = revision
        return
      case 'fault_changed':
        this.#faults = revision
        return
      case 'reset':
        this.#requests.clear()
        this.#exchanges.clear()
        this.#deliveries.clear()
        this.#madeHere.clear()
        this.#readCampaigns()
        this.#start = this.#webhooks = this.#faults = this.#users = revision
    }
  }

  #addRequest(exchange: Exchange): void {
    const row = requestRow(exchange.request)
    this.#requests.set(row.key, row, this.#revision)
    this.#exchanges.addExchange(row.key, exchange)
    this.#options.onAnswerEnd((durationMs) => {
      // A reset may have come before the end of the answer.
      if (this.#requests.get(row.key) === row) {
        this.#requests.set(row.key, { ...row, durationMs: Math.round(durationMs) }, ++this.#revision)
      }
    })
  }

  #setDelivery({ deliveryId: key, ...delivery }: DeliveryRecord): void {
    if (this.#isActing) this.#madeHere.add(key)
    const mark = this.#madeHere.has(key) && { isFromConsole: true }
    this.#deliveries.set(key, { ...delivery, key, ...mark }, this.#revision)
  }
}

export function deliveryRow({ body, signature, attempts, ...delivery }: Delivery): DeliveryRow {
  const lastStatus = attempts.at(-1)?.status
  return {
    ...delivery,
    ...subjectOf(body),
    attempts: attempts.length,
    ...(lastStatus !== undefined && { lastStatus }),
  }
}

/** The event and the user of a message, if its payload names them. */
function subjectOf(body: string): { type: string; user: string } {
  const { scope, user, event } = JSON.parse(body)
  const type: unknown = typeof event === 'object' && event !== null ? event.type : undefined
  return {
    type: typeof type === 'string' ? shorten(type) : typeof scope === 'string' ? shorten(scope) : 'message',
    user: typeof user === 'string' ? shorten(user) : '',
  }
}

/** JSON writes an infinite number as null. */
const faultView = ({ id: key, options, remaining }: CampaignService['faults'][number]): FaultView => ({
  key,
  options,
  remaining,
})
