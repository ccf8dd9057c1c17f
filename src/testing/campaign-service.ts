import { systemClock } from './clock/service-clock.ts'
import { DeliveryQueue, type DeliveryRecord } from './deliveries/delivery-queue.ts'
import type { EmitOptions, EmittedMessage } from './deliveries/emit.ts'
import { type TestWebhookOptions, type TestWebhookResult, testWebhook } from './deliveries/test-webhook.ts'
import {
  describeWebhook,
  type WebhookOptions,
  type WebhookRecord,
  webhookOptions,
} from './deliveries/webhook-registry.ts'
import { WebhookSender } from './deliveries/webhook-sender.ts'
import type { FaultOptions } from './faults/fault-options.ts'
import { describeFault, type FaultHandle, FaultQueue } from './faults/fault-queue.ts'
import { exchange } from './http/exchange.ts'
import { RequestLog, type RequestRecord } from './http/request-log.ts'
import { Router } from './http/router.ts'
import { type ListeningService, type ListenOptions, listen } from './http/server.ts'
import { createServiceFetch } from './http/service-fetch.ts'
import type { ServiceRequest } from './http/service-message.ts'
import { readBySchema } from './read-options.ts'
import { type ExportSeedOptions, exportSeed } from './seed/export-seed.ts'
import { loadSeed, type World } from './seed/load-seed.ts'
import { readSeed, type ServiceSeed } from './seed/service-seed.ts'
import type { ServiceEvent } from './service-event.ts'
import { type CampaignServiceOptions, readServiceOptions } from './service-options.ts'
import { Subscribers } from './subscribers.ts'
import { Authenticator } from './tokens.ts'
import { type CompleteTaskOptions, completeNamedTask } from './world/complete-named-task.ts'
import { type EntrySnapshot, type StateSnapshot, takeSnapshot } from './world/snapshot.ts'

/** A local copy of the campaign service. Made by {@link createCampaignService}. */
export interface CampaignService {
  /**
   * A `fetch` that reaches the service without a network: the `fetch` option of the client. The API is under
   * `/api/v1` of any host. It rejects as fetch does: with the signal's reason when aborted, with
   * `TypeError: fetch failed` when a fault loses the connection. It follows no redirect: a redirect that a fault answers
   * is returned as it is, or rejects if the request says `redirect: 'error'`.
   */
  readonly fetch: typeof globalThis.fetch
  /**
   * Serves the same service with node:http, on loopback by default. It may be called more than once.
   *
   * Rejects with `TypeError` when an option is unknown or wrong, with `RangeError` when `port` is out of range, and with
   * the system's error when the port is not available.
   */
  listen(options?: ListenOptions): Promise<ListeningService>
  /**
   * Makes coming requests fail. Faults form a queue: each request takes the first fault that applies to it.
   *
   * @throws TypeError when an option is unknown or wrong
   * @throws RangeError when a number is out of range
   */
  fail(options: FaultOptions): FaultHandle
  /** The faults that requests can still meet, oldest first. */
  readonly faults: readonly FaultHandle[]
  /**
   * Returns the faults that fewer requests have met than they are for; with `times: Infinity`, those that no request has
   * met. Check at the end of a test that the list is empty: an unused fault usually means that the test missed the path
   * it is about.
   */
  pendingFaults(): readonly FaultHandle[]
  /**
   * Registers a webhook, as the admin panel does. A webhook with the same `hook_id` is replaced (assumed): pending
   * deliveries to endpoints that it no longer has are dropped, the others go on.
   * Interface: [Webhook registration](/the-service#webhook-registration).
   *
   * @throws TypeError when an option is unknown or wrong
   */
  registerWebhook(options: WebhookOptions): WebhookRecord
  /** Removes a webhook and drops its pending deliveries. Returns whether there was such a webhook. */
  unregisterWebhook(hookId: string): boolean
  /** The registered webhooks, without their secrets. */
  readonly webhooks: readonly WebhookRecord[]
  /**
   * Sends an event to every webhook that it applies to, signed if the webhook has a secret. Nothing else changes: the
   * user's XP stays the same. Interface: [Webhooks](/the-service#webhooks).
   *
   * @throws TypeError when an option is wrong, or names a campaign, user, task or quest that does not exist
   * @throws RangeError when `xp` is not finite
   */
  emit(event: EmitOptions): EmittedMessage
  /**
   * Sends the simulated `user_activity` of the admin panel's Test button once, without retries and without a record in
   * `deliveries` (both assumed). Interface: [Test tool](/the-service#test-tool).
   *
   * Rejects with `TypeError` when an option is wrong, or names a webhook, URL, campaign or user that does not exist.
   */
  testWebhook(options: TestWebhookOptions): Promise<TestWebhookResult>
  /**
   * The deliveries, oldest first, copied at each access: one for each message and endpoint. Of those that have ended, the
   * latest are kept: at most 10 000, with payloads of 50 MB in all.
   */
  readonly deliveries: readonly DeliveryRecord[]
  /**
   * Sends the message of a delivery to the same endpoint again, with the same `id` and payload and the usual retries,
   * signed with the webhook's present secret. A receiver should recognise it as a duplicate. (Assumed: the interface
   * shows no such function.)
   *
   * @param deliveryId - the `deliveryId` of one of `deliveries`, in any state
   * @throws TypeError when there is no such delivery, or its webhook no longer has the endpoint
   */
  redeliver(deliveryId: string): DeliveryRecord
  /** When the next retry of a delivery is due, in milliseconds since the epoch; `undefined` when none is waiting. */
  readonly nextRetryAt: number | undefined
  /** Resolves when no delivery is under way. Retries that are not yet due are not awaited. */
  settle(): Promise<void>
  /**
   * Completes a task for a user, as if they had done it in the campaign: with its XP, the quests and challenges that
   * follow, XP for the referrer, and the webhook messages. A task that counts once and is already completed changes
   * nothing. Returns the user's entry afterwards.
   *
   * @throws TypeError when an option is wrong or names something that does not exist, or a dependency is not completed
   */
  completeTask(options: CompleteTaskOptions): EntrySnapshot
  /** The latest requests, oldest first, copied at each access: at most 10 000 of them, and 50 MB in all. */
  readonly requests: readonly RequestRecord[]
  /** How many requests and ended deliveries were discarded since the last reset, because of the limits above. */
  readonly discarded: { readonly requests: number; readonly deliveries: number }
  /** The entries, awards and values, copied at each access. */
  readonly state: StateSnapshot
  /**
   * Calls back for every event of the service, in order, before the client has its answer. An error that the listener
   * throws does not disturb the service. It is thrown again in a microtask, where it fails the running test.
   *
   * @returns a function that ends the subscription
   * @throws TypeError when `listener` is not a function
   */
  subscribe(listener: (event: ServiceEvent) => void): () => void
  /**
   * Returns the content of the service as a seed, for `createCampaignService({ ...seed })` and `reset(seed)`. It is plain
   * JSON. Deliveries, faults, requests and tokens are not part of it.
   *
   * @throws TypeError when an option is unknown or wrong
   */
  exportSeed(options?: ExportSeedOptions): ServiceSeed
  /**
   * Takes everything back to the start: campaigns and webhooks as they were given, no deliveries, no faults, an empty
   * log, and the time of a clock that can be moved. Servers and subscriptions stay.
   *
   * @param seed - content to load instead, until the next reset
   * @throws TypeError when the seed is wrong or contradicts itself; then nothing has changed
   */
  reset(seed?: ServiceSeed): void
}

/**
 * Creates a local copy of the campaign service, in memory, for tests and for trying things out.
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
 * @throws TypeError when an option is unknown or wrong, or a seed contradicts itself
 * @throws RangeError when a number is out of range
 */
export function createCampaignService(options: CampaignServiceOptions = {}): CampaignService {
  const own = readServiceOptions(options)
  const { clock = systemClock, deliver = (request) => globalThis.fetch(request), deliveryTimeoutMs = 10_000 } = own
  const at = () => clock.now()
  const router = new Router(own)
  const authenticator = new Authenticator(own.grants)
  const log = new RequestLog()
  const subscribers = new Subscribers(clock)
  const faults = new FaultQueue((change, fault) => {
    subscribers.tell(() => ({ kind: 'fault_changed', at: at(), change, fault: describeFault(fault) }))
  })
  const posting = { clock, deliver, timeoutMs: deliveryTimeoutMs }
  const deliveries = new DeliveryQueue(posting, (delivery) => {
    subscribers.tell(() => ({ kind: 'delivery_changed', at: at(), delivery: delivery() }))
  })
  const load = (caller: string, seed: ServiceSeed, running?: World): World => {
    const loaded = loadSeed(caller, seed, own.seed, running?.webhooks)
    loaded.webhooks.watch((change, webhook) => {
      deliveries.drop(webhook.hook_id, change === 'unregistered' ? [] : webhook.urls)
      subscribers.tell(() => ({ kind: 'webhook_changed', at: at(), change, webhook: describeWebhook(webhook) }))
    })
    return loaded
  }
  let world = load('createCampaignService', own.beginning)
  const sender = new WebhookSender(() => world, deliveries)

  const tellChanges = (): void => {
    const changes = world.state.takeChanges()
    if (changes.entries.size + changes.awards.length + changes.values.length === 0) return
    subscribers.tell(() => ({ kind: 'state_changed', at: at(), changed: takeSnapshot(changes) }))
  }

  const answer = (request: ServiceRequest) =>
    exchange(request, {
      router,
      authenticator,
      faults,
      log,
      now: at,
      open: (grant) => ({
        state: world.state,
        webhooks: world.webhooks,
        grant,
        now: at(),
        announce: (event) => sender.announce(event),
      }),
      onAnswer(record, answer) {
        tellChanges()
        subscribers.tell(() => ({ kind: 'request_answered', at: at(), request: record, ...(answer && { answer }) }))
      },
    })

  return {
    fetch: createServiceFetch(answer, clock),
    listen: (listenOptions) => listen(answer, clock, listenOptions),
    fail: (faultOptions) => faults.add(faultOptions),
    get faults() {
      return faults.handles()
    },
    pendingFaults: () => faults.handles().filter(({ remaining, used }) => remaining < Infinity || used === 0),
    registerWebhook: (given) =>
      describeWebhook(world.webhooks.register(readBySchema('registerWebhook', webhookOptions, given))),
    unregisterWebhook: (hookId) => world.webhooks.unregister(hookId),
    get webhooks() {
      return world.webhooks.all().map(describeWebhook)
    },
    emit: (event) => sender.emit(event),
    testWebhook: (testOptions) => testWebhook(testOptions, world, posting),
    get deliveries() {
      return deliveries.records()
    },
    redeliver: (deliveryId) => sender.redeliver(deliveryId),
    get nextRetryAt() {
      return deliveries.nextRetryAt
    },
    settle: () => deliveries.settle(),
    completeTask(taskOptions) {
      const entry = completeNamedTask(taskOptions, world.state, (event) => sender.announce(event))
      tellChanges()
      return entry
    },
    get requests() {
      return log.records()
    },
    get discarded() {
      return { requests: log.discarded, deliveries: deliveries.discarded }
    },
    get state() {
      return takeSnapshot(world.state.everything())
    },
    subscribe: (listener) => subscribers.add(listener),
    exportSeed: (exportOptions) => exportSeed(world, exportOptions),
    reset(seed) {
      world = load('reset', seed === undefined ? own.beginning : readSeed('reset', seed), world)
      faults.clear()
      log.clear()
      deliveries.clear()
      clock.reset?.()
      subscribers.tell(() => ({ kind: 'reset', at: at() }))
    },
  }
}
