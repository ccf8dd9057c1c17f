import { requireOptions } from '../shared/options.ts'
import { systemClock } from './clock.ts'
import { DeliveryQueue, type DeliveryRecord } from './deliveries/delivery-queue.ts'
import type { EmitOptions, EmittedMessage } from './deliveries/emit.ts'
import { redeliver } from './deliveries/redeliver.ts'
import { type TestWebhookOptions, type TestWebhookResult, testWebhook } from './deliveries/test-tool.ts'
import { describeWebhook, type WebhookOptions, type WebhookRecord } from './deliveries/webhook-registry.ts'
import type { FaultOptions } from './faults/options.ts'
import { describeFault, type FaultHandle, FaultQueue } from './faults/queue.ts'
import { exchange } from './http/exchange.ts'
import { createServiceFetch } from './http/fetch.ts'
import type { ServiceRequest } from './http/request.ts'
import { RequestLog, type RequestRecord } from './http/request-log.ts'
import { Router } from './http/router.ts'
import { type ListeningService, type ListenOptions, listen } from './http/server.ts'
import { type CampaignServiceOptions, ownOptions, SERVICE_RULES } from './options.ts'
import { ownSeed, SEED_RULES, type ServiceSeed } from './seed.ts'
import { type ExportSeedOptions, exportSeed } from './seed-export.ts'
import type { ServiceEvent } from './service-event.ts'
import { startWorld } from './start.ts'
import { Subscribers } from './subscribers.ts'
import { Authenticator } from './tokens.ts'
import { type CompleteTaskOptions, completeNamedTask } from './world/complete-task.ts'
import { type EntrySnapshot, type StateSnapshot, takeSnapshot } from './world/snapshot.ts'

/** The campaign service, in a box. Made by {@link createCampaignService}. */
export interface CampaignService {
  /**
   * A `fetch` that reaches the service without a network: the `fetch` option of the client. The API is under
   * `/api/v1` of whatever host. It rejects as fetch does: with the signal's reason when aborted, with
   * `TypeError: fetch failed` when a fault loses the connection. It follows no redirect: one that a fault orders comes
   * back as it is, or rejects where the request says `redirect: 'error'`.
   */
  readonly fetch: typeof globalThis.fetch
  /**
   * Serves the same service with node:http on loopback. May be called more than once.
   *
   * Rejects with `TypeError` when an option is unknown or wrong, with `RangeError` when `port` is not a port, with the
   * system's error when it cannot be had.
   */
  listen(options?: ListenOptions): Promise<ListeningService>
  /**
   * Makes requests to come fail. Faults wait in line: each request takes the first one that is for it.
   *
   * @throws TypeError when an option is unknown or wrong, saying which.
   * @throws RangeError when a number is out of its range.
   */
  fail(options: FaultOptions): FaultHandle
  /** The faults that wait for a request, in the order in which they were ordered. */
  readonly faults: readonly FaultHandle[]
  /**
   * The faults that were ordered and have not been met by all the requests they are for; one of `times: Infinity` until
   * a request has met it. At the end of a test it should be empty: what the test is about has not happened otherwise.
   */
  pendingFaults(): readonly FaultHandle[]
  /**
   * Registers a webhook as the admin panel does. One whose `hook_id` is registered already is replaced (assumed):
   * deliveries that wait for an endpoint which it no longer has are dropped, the others go on as they were.
   * Interface: [Webhook registration](../../docs/the-service.md#webhook-registration).
   *
   * @throws TypeError when an option is unknown or wrong, saying which.
   */
  registerWebhook(options: WebhookOptions): WebhookRecord
  /** Forgets a webhook and drops the deliveries to it that have not ended. Whether there was one. */
  unregisterWebhook(hookId: string): boolean
  /** The registered webhooks, without their secrets. */
  readonly webhooks: readonly WebhookRecord[]
  /**
   * Sends an event to every webhook it applies to, signed where there is a secret. Nothing else changes: the user's
   * XP stays as it is. Interface: [Webhooks](../../docs/the-service.md#webhooks).
   *
   * @throws TypeError when it names a campaign, user, task or quest that is not there, or an option is wrong.
   * @throws RangeError when `xp` is not finite.
   */
  emit(event: EmitOptions): EmittedMessage
  /**
   * Presses the admin panel's Test button: sends a simulated `user_activity` once, without retries and without a
   * record among the deliveries (both assumed). Interface: [Test tool](../../docs/the-service.md#test-tool).
   *
   * Rejects with `TypeError` when the webhook, its URL, the campaign or the user is not there, or an option is wrong.
   */
  testWebhook(options: TestWebhookOptions): Promise<TestWebhookResult>
  /**
   * What became of each message at each endpoint, oldest first, copied at each access. Of those that have ended, the
   * oldest leave beyond 10 000.
   */
  readonly deliveries: readonly DeliveryRecord[]
  /**
   * Delivers a message once more, to the same endpoint and with the same `id` and payload: a delivery of its own, with
   * the usual retries, signed with the secret that the webhook has now. A receiver should take it for a duplicate.
   * (Assumed: the interface shows no such switch.)
   *
   * @param deliveryId - the `deliveryId` of one of `deliveries`, whatever became of it
   * @throws TypeError when there is no such delivery, or its webhook no longer has its endpoint.
   */
  redeliver(deliveryId: string): DeliveryRecord
  /** When the next retry of a delivery is due, in milliseconds since the epoch; `undefined` when none waits. */
  readonly nextRetryAt: number | undefined
  /** Resolves when no delivery is under way. Retries that wait for their time are not waited for. */
  settle(): Promise<void>
  /**
   * Completes a task for a user as if they had done it in the campaign itself: with its XP, the quests and challenges
   * that follow, XP for the referrer, and the webhook messages of all that. A task that counts once and is done already
   * changes nothing. Returns the user's entry afterwards.
   *
   * @throws TypeError when it names what is not there, something must be completed first, or an option is wrong.
   */
  completeTask(options: CompleteTaskOptions): EntrySnapshot
  /** The requests of late (10 000 at most), oldest first. */
  readonly requests: readonly RequestRecord[]
  /** What the service holds, copied at each access. */
  readonly state: StateSnapshot
  /**
   * Calls back for everything that happens, in the order in which it does, before the client has its answer. What the
   * listener throws breaks nothing here, and is thrown again a moment later, where it fails the test that runs.
   *
   * @returns what ends the subscription; the second time it does nothing
   * @throws TypeError when `listener` is not a function.
   */
  subscribe(listener: (event: ServiceEvent) => void): () => void
  /**
   * All that the service holds now, as a seed: `createCampaignService({ ...seed })` and `reset(seed)` go on from there.
   * Deliveries, faults and the log are not in it, tokens neither. It can be kept as JSON.
   *
   * @throws TypeError when an option is unknown or wrong.
   */
  exportSeed(options?: ExportSeedOptions): ServiceSeed
  /**
   * Back to the start: campaigns and webhooks as they were given, no deliveries or faults, an empty log. Servers and
   * subscriptions go on. With a seed, that is the start, for this time.
   *
   * @throws TypeError when the seed contradicts itself, saying where; then nothing has changed.
   */
  reset(seed?: ServiceSeed): void
}

/**
 * Makes a service that behaves as the interface says, in memory, for tests and for trying things out.
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
 * @throws TypeError when an option is unknown or wrong, or a seed contradicts itself, saying where.
 * @throws RangeError when a number is out of its range.
 */
export function createCampaignService(options: CampaignServiceOptions = {}): CampaignService {
  const own = ownOptions(options)
  requireOptions('createCampaignService', own, SERVICE_RULES)
  const { clock = systemClock, deliver = (request) => globalThis.fetch(request), deliveryTimeoutMs = 10_000 } = own
  const at = () => clock.now()
  const router = new Router(own)
  const authenticator = new Authenticator(own.tokens)
  const log = new RequestLog()
  const subscribers = new Subscribers(clock)
  const faults = new FaultQueue((change, fault) => {
    subscribers.tell(() => ({ kind: 'fault_changed', at: at(), change, fault: describeFault(fault) }))
  })
  const posting = { clock, deliver, timeoutMs: deliveryTimeoutMs }
  const deliveries = new DeliveryQueue(posting, (delivery) => {
    subscribers.tell(() => ({ kind: 'delivery_changed', at: at(), delivery: delivery() }))
  })
  const start = (caller: string, seed: ServiceSeed) =>
    startWorld(caller, seed, {
      idSeed: own.seed,
      deliveries,
      onWebhookChange(change, webhook) {
        deliveries.drop(webhook.hook_id, change === 'unregistered' ? [] : webhook.urls)
        subscribers.tell(() => ({ kind: 'webhook_changed', at: at(), change, webhook: describeWebhook(webhook) }))
      },
    })
  let world = start('createCampaignService', own)
  const { campaigns, webhooks, awards, values } = own
  const beginning: ServiceSeed = { campaigns, webhooks, awards, values }

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
        announce: (event) => world.sender.announce(event),
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
    registerWebhook: (webhookOptions) => describeWebhook(world.webhooks.register(webhookOptions)),
    unregisterWebhook: (hookId) => world.webhooks.unregister(hookId),
    get webhooks() {
      return world.webhooks.all().map(describeWebhook)
    },
    emit: (event) => world.sender.emit(event),
    testWebhook: (testOptions) => testWebhook(testOptions, world, posting),
    get deliveries() {
      return deliveries.records()
    },
    redeliver: (deliveryId) => redeliver(deliveryId, world, deliveries),
    get nextRetryAt() {
      return deliveries.nextRetryAt
    },
    settle: () => deliveries.settle(),
    completeTask(taskOptions) {
      const entry = completeNamedTask(taskOptions, world.state, (event) => world.sender.announce(event))
      tellChanges()
      return entry
    },
    get requests() {
      return log.records()
    },
    get state() {
      return takeSnapshot(world.state.everything())
    },
    subscribe: (listener) => subscribers.add(listener),
    exportSeed: (exportOptions) => exportSeed(world, exportOptions),
    reset(seed = beginning) {
      const own = ownSeed(seed, SEED_RULES)
      requireOptions('reset', own, SEED_RULES)
      world = start('reset', own)
      faults.clear()
      log.clear()
      deliveries.clear()
      subscribers.tell(() => ({ kind: 'reset', at: at() }))
    },
  }
}
