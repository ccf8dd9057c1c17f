import { abortableDelay, type ServiceClock, systemClock, untilAborted } from './clock.ts'
import { EventListeners, type ServiceEvent } from './events.ts'
import type { FaultOptions } from './faults/fault-options.ts'
import { type FaultHandle, FaultQueue, lostConnection, type Outcome, transmit } from './faults/faults.ts'
import { handleRequest, Router } from './http/handle-request.ts'
import { isBodyless, type ServiceRequest } from './http/messages.ts'
import { RequestLog, type RequestRecord } from './http/request-log.ts'
import { type ListeningService, type ListenOptions, listen } from './http/server.ts'
import { readBySchema } from './option-readers.ts'
import { readSeed, type ServiceSeed } from './seed/seed.ts'
import { type ExportSeedOptions, exportSeed, loadSeed } from './seed/service-content.ts'
import { type CampaignServiceOptions, readServiceOptions } from './service-options.ts'
import {
  type CompleteTaskOptions,
  completeTaskByOptions,
  type EntrySnapshot,
  type StateSnapshot,
  takeSnapshot,
} from './state/service-state.ts'
import type { DeliveryRecord } from './webhooks/delivery.ts'
import { DeliveryQueue } from './webhooks/delivery-queue.ts'
import {
  draftEmittedMessage,
  draftMessage,
  type EmitOptions,
  type EmittedMessage,
  type TestWebhookOptions,
  type TestWebhookResult,
  testWebhook,
} from './webhooks/messages.ts'
import {
  describeWebhook,
  type WebhookOptions,
  type WebhookRecord,
  webhookOptions,
} from './webhooks/webhook-registry.ts'

/** A local copy of the campaign service. */
export interface CampaignService {
  /**
   * A `fetch` that reaches the service without a network. Pass it as the `fetch` option of the client. The API is under
   * `/api/v1` of any host.
   *
   * Rejects with the signal's reason when aborted, and with `TypeError: fetch failed` when a fault closes the connection.
   * If a fault responds with a redirect, the redirect is returned, not followed. With `redirect: 'error'` the call rejects.
   */
  readonly fetch: typeof globalThis.fetch
  /**
   * Serves the service with node:http, on loopback by default. Several servers may run at once.
   *
   * Rejects with `ConfigurationError` when an option is wrong or misspelt, and with the system's error when the port is not
   * available.
   */
  listen(options?: ListenOptions): Promise<ListeningService>
  /**
   * Makes future requests or webhook deliveries fail. Faults are queued: each request, or each attempt to deliver a
   * message, uses the first fault that matches it.
   *
   * @throws ConfigurationError when an option is wrong or misspelt
   */
  fail(options: FaultOptions): FaultHandle
  /** The faults that are not used up, oldest first. */
  readonly faults: readonly FaultHandle[]
  /**
   * Returns `faults`, without used faults that have `times: Infinity`. Check at the end of a test that the list is empty:
   * an unused fault usually means that the test missed the path you meant.
   */
  pendingFaults(): readonly FaultHandle[]
  /**
   * Registers a webhook, as the admin panel does. Replaces a webhook with the same `hook_id` (assumed) and drops its
   * pending deliveries to removed URLs.
   * See "Webhook registration" in docs/the-service.md.
   *
   * @throws ConfigurationError when an option is wrong or misspelt
   */
  registerWebhook(options: WebhookOptions): WebhookRecord
  /** Removes a webhook and drops its pending deliveries. Returns whether the webhook existed. */
  unregisterWebhook(hookId: string): boolean
  /** The registered webhooks, without their secrets. */
  readonly webhooks: readonly WebhookRecord[]
  /**
   * Sends an event to every matching webhook, signed if the webhook has a secret. The user's XP and progress do not
   * change. See "Webhooks" in docs/the-service.md.
   *
   * @throws ConfigurationError when an option is wrong, or names an unknown campaign, user, task or quest
   */
  emit(event: EmitOptions): EmittedMessage
  /**
   * Sends the `user_activity` message of the admin panel's Test button, once. Assumed: without retries, and without a
   * record in `deliveries`. See "Test tool" in docs/the-service.md.
   *
   * Rejects with `ConfigurationError` when an option is wrong, or names an unknown webhook, URL, campaign or user.
   */
  testWebhook(options: TestWebhookOptions): Promise<TestWebhookResult>
  /**
   * The deliveries and redeliveries, oldest first. Each access returns a copy. Of the ended deliveries, only the latest are
   * kept: at most 10 000, with payloads of 50 MB in total.
   */
  readonly deliveries: readonly DeliveryRecord[]
  /**
   * Sends the message of a delivery to the same URL again, with the same `id`, payload and retry schedule, signed
   * with the webhook's current secret. A receiver should recognise the message as a duplicate. Assumed: the API
   * description shows no redelivery.
   *
   * @param deliveryId - the `deliveryId` of one of `deliveries`, in any state
   * @throws ConfigurationError when the delivery is unknown, or its webhook no longer has the URL
   */
  redeliver(deliveryId: string): DeliveryRecord
  /** When the next retry of a delivery is due, in milliseconds since the epoch; `undefined` when none is waiting. */
  readonly nextRetryAt: number | undefined
  /** Resolves when no delivery attempt is running. Does not wait for attempts that are not due: retries, and the faults `delay` and `reorder`. */
  settle(): Promise<void>
  /**
   * Completes a task for a user. Adds the XP of the user and the referrer, completes the quests and challenges whose
   * dependencies are then complete, and sends the webhook messages. A completed task with `recurrence: 'once'` changes
   * nothing. Returns the user's entry.
   *
   * @throws ConfigurationError when an option is wrong, or names an unknown campaign, user or task, or a dependency is not completed
   */
  completeTask(options: CompleteTaskOptions): EntrySnapshot
  /** The latest requests, oldest first: at most 10 000, and 50 MB in total. Each access returns a copy. */
  readonly requests: readonly RequestRecord[]
  /** How many requests and ended deliveries were discarded because of their limits, since the last reset. */
  readonly discarded: { readonly requests: number; readonly deliveries: number }
  /** The entries, awards and values. Each access returns a copy. */
  readonly state: StateSnapshot
  /**
   * Calls `listener` for every event of the service, in order, before the client gets its response. An error of the
   * listener does not affect the service. The error is thrown again in a microtask, where it fails the running test.
   *
   * @returns a function that ends the subscription
   * @throws ConfigurationError when `listener` is not a function
   */
  subscribe(listener: (event: ServiceEvent) => void): () => void
  /**
   * Returns the content of the service as a seed, for `createCampaignService({ ...seed })` and `reset(seed)`: plain JSON,
   * without deliveries, faults, requests and tokens.
   *
   * @throws ConfigurationError when an option is wrong or misspelt
   */
  exportSeed(options?: ExportSeedOptions): ServiceSeed
  /**
   * Restores the content from the options of `createCampaignService`, removes all deliveries, faults and requests, and
   * resets a manual clock. Servers and subscriptions stay.
   *
   * @param seed - other content to load, until the next reset
   * @throws ConfigurationError when the seed is wrong or inconsistent; the service is then unchanged
   */
  reset(seed?: ServiceSeed): void
}

/**
 * Creates a local copy of the campaign service, in memory, for tests and development.
 *
 * @example
 * ```ts
 * const service = createCampaignService()
 * const client = new CampaignClient({
 *   baseUrl: 'https://campaign.example/api/v1',
 *   accessToken: 'any',
 *   fetch: service.fetch,
 * })
 * service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
 * ```
 * @throws ConfigurationError when an option is wrong or misspelt, or a seed is inconsistent
 */
export function createCampaignService(options: CampaignServiceOptions = {}): CampaignService {
  const settings = readServiceOptions(options)
  const { clock = systemClock, deliver = (request) => globalThis.fetch(request), deliveryTimeoutMs = 10_000 } = settings
  const events = new EventListeners(clock)
  const faults = new FaultQueue(events)
  const postSettings = { clock, deliver, timeoutMs: deliveryTimeoutMs }
  const deliveries = new DeliveryQueue(postSettings, faults, events)
  const service = {
    router: new Router(settings),
    grants: settings.grants,
    rateLimit: settings.rateLimit,
    faults,
    log: new RequestLog(),
    clock,
    content: loadSeed('createCampaignService', settings.start, settings.idSeed),
  }

  /** Sends the messages and events of the changes since the last call. */
  const publishChanges = (): void => {
    const { content } = service
    for (const { change, webhook } of content.webhooks.takeChanges()) {
      deliveries.drop(webhook.hook_id, change === 'unregistered' ? [] : webhook.urls)
      events.emit(() => ({ kind: 'webhook_changed', change, webhook: describeWebhook(webhook) }))
    }
    const { events: userEvents, ...changed } = content.state.takeChanges()
    // Computing the rank in a message is slow. Create no message if no webhook is registered.
    if (content.webhooks.all().length > 0) {
      for (const event of userEvents) deliveries.send(draftMessage(event), content)
    }
    if (changed.entries.length + changed.awards.length + changed.values.length > 0) {
      events.emit(() => ({ kind: 'state_changed', changed: takeSnapshot(changed) }))
    }
  }

  const handle = (request: ServiceRequest): Outcome => {
    const { outcome, record } = handleRequest(request, service)
    publishChanges()
    events.emit(() => ({
      kind: 'request_answered',
      request: record,
      ...(outcome.kind === 'response' && { response: outcome.response }),
    }))
    return outcome
  }

  return {
    fetch: createServiceFetch(handle, clock),
    listen: (listenOptions) => listen(handle, clock, listenOptions),
    fail: (faultOptions) => faults.add(faultOptions),
    get faults() {
      return faults.handles()
    },
    pendingFaults: () => faults.handles().filter(({ remaining, used }) => remaining < Infinity || used === 0),
    registerWebhook(given) {
      const webhook = service.content.webhooks.register(readBySchema('registerWebhook', webhookOptions, given))
      publishChanges()
      return describeWebhook(webhook)
    },
    unregisterWebhook(hookId) {
      const wasRegistered = service.content.webhooks.unregister(hookId)
      publishChanges()
      return wasRegistered
    },
    get webhooks() {
      return service.content.webhooks.all().map(describeWebhook)
    },
    emit: (event) => deliveries.send(draftEmittedMessage(event, service.content.state), service.content),
    testWebhook: (testOptions) => testWebhook(testOptions, service.content, postSettings),
    get deliveries() {
      return deliveries.records()
    },
    redeliver: (deliveryId) => deliveries.redeliver(deliveryId, service.content),
    get nextRetryAt() {
      return deliveries.nextRetryAt
    },
    settle: () => deliveries.settle(),
    completeTask(taskOptions) {
      const entry = completeTaskByOptions(taskOptions, service.content.state)
      publishChanges()
      return entry
    },
    get requests() {
      return service.log.records()
    },
    get discarded() {
      return { requests: service.log.discarded, deliveries: deliveries.discarded }
    },
    get state() {
      return takeSnapshot(service.content.state.everything())
    },
    subscribe: (listener) => events.add(listener),
    exportSeed: (exportOptions) => exportSeed(service.content, exportOptions),
    reset(seed) {
      const start = seed === undefined ? settings.start : readSeed('reset', seed)
      service.content = loadSeed('reset', start, settings.idSeed, seed && service.content.webhooks)
      faults.clear()
      service.rateLimit?.clear()
      service.log.clear()
      deliveries.clear()
      clock.reset?.()
      events.emit(() => ({ kind: 'reset' }))
    },
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** Returns a `fetch` that reaches the service without a network. */
function createServiceFetch(
  handle: (request: ServiceRequest) => Outcome,
  clock: ServiceClock,
): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { signal } = request
    const body = new Uint8Array(await request.arrayBuffer())
    signal.throwIfAborted()
    const outcome = handle({ method: request.method, url: new URL(request.url), headers: request.headers, body })
    if (outcome.kind === 'lost') throw lostConnection('fetch failed')
    if (outcome.kind === 'silent') return untilAborted(signal)
    const { transmission, delayMs } = outcome
    if (transmission === 'whole' && delayMs > 0) await abortableDelay(clock, delayMs, signal)
    const { status, headers, body: text } = outcome.response
    if (request.redirect === 'error' && REDIRECTS.has(status)) {
      throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') })
    }
    if (isBodyless(status)) return new Response(null, { status, headers })
    const bytes = new TextEncoder().encode(text)
    return new Response(transmission === 'whole' ? bytes : streamOf(transmit(bytes, outcome, clock, signal)), {
      status,
      headers: { ...headers, 'content-length': String(bytes.length) },
    })
  }
}

/** Reads each part only after the previous part was read: an error of the stream discards its unread parts. */
const streamOf = (parts: AsyncGenerator<Uint8Array<ArrayBuffer>, void>) =>
  new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
