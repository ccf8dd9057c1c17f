import { createHash, randomUUID } from 'node:crypto'
import type { CampaignService } from '../../testing/campaign-service.ts'
import type { ServiceEvent } from '../../testing/events.ts'
import type { RequestRecord } from '../../testing/http/request-log.ts'
import type { DeliveryRecord } from '../../testing/webhooks/delivery.ts'
import type { TestWebhookResult } from '../../testing/webhooks/messages.ts'
import type { Changes, FaultView, RequestDetails, RequestView, Setup } from '../protocol.ts'
import { Campaigns, Progress } from './campaigns.ts'
import { deliveryRow, type ListedDelivery } from './delivery-view.ts'
import { RecentRows } from './recent-rows.ts'
import { CALL_HEADER, requestRow, requestSize, requestView } from './request-view.ts'

interface FeedOptions {
  readonly service: CampaignService
  readonly setup: Setup
  /** Returns the time of the service minus the time of the machine, in milliseconds. */
  readonly aheadMs: () => number
  /** Calls `ended` when the current response ends, with the duration of the request in milliseconds. */
  readonly onResponseEnd: (ended: (durationMs: number) => void) => void
}

type ListName = 'requests' | 'deliveries'

/** An action of the console that the list of requests shows. */
interface Action {
  readonly title: string
  /** The user of the action. */
  readonly subject: string
  /** ID of the task. */
  readonly item: string
  readonly platform: string
  readonly pid: string
  readonly values: Readonly<Record<string, string>>
  readonly at: number
}

/** A request that failed in a way that clients retry. */
interface FailedRequest {
  readonly firstKey: string
  readonly attempt: number
  readonly at: number
}

/** The same request within this time after a failure counts as a further attempt of the same call. */
const RETRY_WINDOW_MS = 60_000
const MAX_FAILED = 1000

/** Keeps the recent requests and deliveries of the service. The page polls it for the changes since a revision. */
export class Feed {
  readonly campaigns: Campaigns
  readonly progress: Progress
  readonly #options: FeedOptions
  readonly #unsubscribe: () => void
  readonly #requests = new RecentRows<RequestView>(requestSize)
  readonly #deliveries = new RecentRows<ListedDelivery>(({ body }) => body.length)
  /** Part of each revision, so that an open page gets all rows after a restart. */
  readonly #processId = randomUUID()
  /** Increases with each change. */
  #revision = 1
  /** The revision of the last reset. */
  #resetAt = 1
  /** The revision at which campaigns, users, webhooks or faults changed last. */
  #stateChangedAt = 1
  #isConsoleAction = false
  #actions = 0
  /** Deliveries whose request has no response yet: the service reports them before the request. */
  readonly #newDeliveries: string[] = []
  /** The calls of the page that have not arrived yet, by ID. */
  readonly #expected = new Map<string, (key: string) => void>()
  /** The latest failed requests, by a hash of the request. */
  readonly #failed = new Map<string, FailedRequest>()

  constructor(options: FeedOptions) {
    this.#options = options
    this.campaigns = new Campaigns(options.service)
    this.progress = new Progress(options.service)
    this.#unsubscribe = options.service.subscribe((event) => this.#record(event))
  }

  /** Returns the changes since a revision; everything if the revision is unknown or older than the last reset. */
  changesSince(known: string): Changes {
    const [processId, number] = known.split('.')
    const isFull = processId !== this.#processId || !(Number(number) >= this.#resetAt)
    const since = isFull ? 0 : Number(number)
    const { service, setup, aheadMs } = this.#options
    const { webhooks, faults } = service
    return {
      revision: `${this.#processId}.${this.#revision}`,
      isFull,
      requests: this.#requests.changesSince(since, requestRow),
      deliveries: this.#deliveries.changesSince(since, deliveryRow),
      ...(this.#stateChangedAt > since && {
        state: { ...setup, webhooks, faults: faults.map(faultView), campaigns: this.campaigns.views() },
      }),
      // The two clocks are read one after the other, so a difference of milliseconds means nothing.
      aheadMs: Math.round(aheadMs() / 1000) * 1000,
    }
  }

  /** Calls `arrived` with the key of the request that has this ID in its header. */
  expectCall(id: string, arrived: (key: string) => void): void {
    this.#expected.set(id, arrived)
  }

  forgetCall(id: string): void {
    this.#expected.delete(id)
  }

  request(key: string): RequestDetails | undefined {
    const view = this.#requests.get(key)
    const appliedBy = view && this.#appliedBy(view)
    return view && { ...view, ...(appliedBy !== undefined && { appliedBy }) }
  }

  /** Returns the key of the request that gave the XP of a refused award. An award ID is used once in the whole service. */
  #appliedBy({ operation, reason, given }: RequestView): string | undefined {
    if (operation !== 'rewardWallet' || reason === undefined || given?.id === undefined) return undefined
    const isApplied = (other: RequestView) =>
      other.operation === operation && other.given?.id === given.id && other.handled && other.reason === undefined
    return this.#requests.values().find(isApplied)?.key
  }

  delivery(key: string): ListedDelivery | undefined {
    return this.#deliveries.get(key)
  }

  /**
   * Runs `work` and marks the deliveries that it queues with `isFromConsole`. Adds `action` to the requests.
   *
   * `work` must be synchronous: the service reports the deliveries that it queues before `work` returns.
   */
  runAction<Result>(work: () => Result, action?: Action): Result {
    this.#isConsoleAction = true
    try {
      const result = work()
      if (action) this.#addAction(action)
      return result
    } finally {
      this.#isConsoleAction = false
      this.#newDeliveries.length = 0
    }
  }

  #addAction({ title, subject, item, platform, pid, values, at }: Action): void {
    const key = `console-${++this.#actions}`
    const text = `console ${title} ${Object.values(values).join(' ')}`.toLowerCase()
    const query = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]))
    const user = { subject, user: subject, platform, pid }
    const row = { key, at, isFromConsole: true, handled: true, method: '', path: '', operation: title, ...user, text }
    this.#requests.set({ ...row, item, query, headers: {} }, ++this.#revision)
    this.#setCause(key)
  }

  /** Sets the request that caused the new deliveries. */
  #setCause(cause: string): void {
    for (const key of this.#newDeliveries.splice(0)) {
      const delivery = this.#deliveries.get(key)
      if (delivery) this.#deliveries.set({ ...delivery, cause }, this.#revision)
    }
  }

  /** Adds a message of the Test tool to the deliveries. */
  addTest(
    { Payload, Status, Success, Data, code }: TestWebhookResult,
    hook_id: string,
    url: string,
    at: number,
    now: number,
  ) {
    const key = `test-${++this.#actions}`
    const { id } = JSON.parse(Payload) as { id: string }
    const ok = Status >= 200 && Status < 300
    const attempt = {
      at,
      ok,
      durationMs: now - at,
      ...(Success ? { status: Status, response: Data } : { error: Data, ...(code !== undefined && { code }) }),
    }
    const state = ok ? 'delivered' : 'undelivered'
    const delivery = { key, id, at, hook_id, url, body: Payload, state, attempts: [attempt] } as const
    this.#deliveries.set({ ...delivery, isFromConsole: true, isTest: true }, ++this.#revision)
  }

  /** Returns the keys of the rows whose bodies contain a word, ignoring case. */
  findInBodies(list: ListName, word: string): readonly string[] {
    const pattern = new RegExp(word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i')
    const contains = (texts: readonly (string | undefined)[]) => texts.some((text) => text && pattern.test(text))
    const found =
      list === 'requests'
        ? this.#requests.values().filter(({ body, response }) => contains([body?.text, response?.body.text]))
        : this.#deliveries
            .values()
            .filter(({ body, attempts }) =>
              contains([body, ...attempts.flatMap(({ response, error }) => [response, error])]),
            )
    return found.map(({ key }) => key)
  }

  /** Removes rows, except for deliveries that are not finished. Returns how many. The page then loads all rows again. */
  clear(list: ListName, keys: readonly string[]): number {
    const cleared =
      list === 'requests'
        ? this.#requests.remove(keys)
        : this.#deliveries.remove(keys.filter((key) => this.#deliveries.get(key)?.state !== 'pending'))
    this.#resetPage()
    return cleared
  }

  /** Puts the rows back that `clear` removed last. Returns whether they were still stored. */
  restore(list: ListName): boolean {
    const isRestored = (list === 'requests' ? this.#requests : this.#deliveries).restore()
    this.#resetPage()
    return isRestored
  }

  #resetPage(): void {
    this.#resetAt = ++this.#revision
    this.#stateChangedAt = this.#revision
  }

  close(): void {
    this.#unsubscribe()
    this.#requests.clear()
    this.#deliveries.clear()
  }

  #record(event: ServiceEvent): void {
    const revision = ++this.#revision
    switch (event.kind) {
      case 'request_answered':
        this.#addRequest({ ...requestView(event), ...this.#attemptOf(event.request) })
        this.#setCause(String(event.request.id))
        this.#expected.get(event.request.headers[CALL_HEADER] ?? '')?.(String(event.request.id))
        return
      case 'delivery_changed':
        this.#setDelivery(event.delivery)
        return
      case 'state_changed':
        this.progress.add(event.at, event.changed.entries)
        break
      case 'reset':
        this.progress.reset()
        this.#failed.clear()
        this.#newDeliveries.length = 0
        this.#requests.clear()
        this.#deliveries.clear()
        this.#resetAt = revision
    }
    if (event.kind === 'clock_moved') return
    this.campaigns.invalidate()
    this.#stateChangedAt = revision
  }

  /** Returns the number of the attempt, if the same request failed shortly before. */
  #attemptOf({ id, at, method, url, bodyText = '', status }: RequestRecord) {
    const hash = createHash('sha256')
      .update(JSON.stringify([method, url, bodyText]))
      .digest('base64')
    const before = this.#failed.get(hash)
    this.#failed.delete(hash)
    const retried = before && at - before.at <= RETRY_WINDOW_MS ? before : undefined
    const firstKey = retried?.firstKey ?? String(id)
    const attempt = (retried?.attempt ?? 0) + 1
    if (status === undefined || status >= 500 || status === 408 || status === 429 || status === 401) {
      this.#failed.set(hash, { firstKey, attempt, at })
      if (this.#failed.size > MAX_FAILED) this.#failed.delete(this.#failed.keys().next().value as string)
    }
    return attempt > 1 ? { firstKey, attempt } : {}
  }

  #addRequest(view: RequestView): void {
    this.#requests.set(view, this.#revision)
    this.#options.onResponseEnd((durationMs) => {
      // The service may have been reset before the end of the response.
      if (this.#requests.get(view.key) !== view) return
      this.#requests.set({ ...view, durationMs: Math.round(durationMs) }, ++this.#revision)
    })
  }

  #setDelivery({ deliveryId: key, ...delivery }: DeliveryRecord): void {
    const known = this.#deliveries.get(key)
    if (!known && delivery.attempts.length === 0) this.#newDeliveries.push(key)
    const isFromConsole = this.#isConsoleAction || known?.isFromConsole === true
    const cause = known?.cause
    this.#deliveries.set(
      { ...delivery, key, ...(cause !== undefined && { cause }), ...(isFromConsole && { isFromConsole }) },
      this.#revision,
    )
  }
}

/** JSON turns an infinite `remaining` into `null`. */
const faultView = ({ id: key, options, remaining }: CampaignService['faults'][number]): FaultView => ({
  key,
  options,
  remaining,
})
