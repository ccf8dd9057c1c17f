import type { QueryNames } from '../endpoints/query-names.ts'
import { anything, type OptionRules, requireOptions } from '../shared/options.ts'
import { type ServiceClock, systemClock } from './clock.ts'
import { Deliveries, type DeliveryRecord } from './deliveries/delivery-queue.ts'
import type { Deliver, PostSettings } from './deliveries/post.ts'
import {
  type EmitOptions,
  type EmittedMessage,
  type TestWebhookOptions,
  type TestWebhookResult,
  WebhookSender,
} from './deliveries/sender.ts'
import {
  describeWebhook,
  type WebhookOptions,
  type WebhookRecord,
  WebhookRegistry,
} from './deliveries/webhook-registry.ts'
import type { FaultHandle, FaultOptions } from './faults/options.ts'
import { FaultQueue } from './faults/queue.ts'
import { exchange } from './http/exchange.ts'
import { createServiceFetch } from './http/fetch.ts'
import type { ServiceRequest } from './http/request.ts'
import { RequestLog, type RequestRecord } from './http/request-log.ts'
import { Router } from './http/router.ts'
import { type ListeningService, type ListenOptions, listen } from './http/server.ts'
import { Authenticator, type TokenOptions } from './tokens.ts'
import type { CampaignSeed } from './world/campaign-seed.ts'
import { demoCampaign } from './world/demo-campaign.ts'
import { createIdSource } from './world/identifiers.ts'
import { type StateSnapshot, takeSnapshot } from './world/snapshot.ts'
import { ServiceState } from './world/state.ts'

/** Options of {@link createCampaignService}. All have defaults. */
export interface CampaignServiceOptions {
  /** The campaigns to start with. Default: `[demoCampaign]`. */
  campaigns?: readonly CampaignSeed[] | undefined
  /** The tokens to accept. Default: any that is not empty, for everything. */
  tokens?: TokenOptions | undefined
  /** The time it lives in. Default: the system's. */
  clock?: ServiceClock | undefined
  /** Makes all identifiers the same on each run. Default: none, so that they differ. */
  seed?: number | string | undefined
  /** Other names for the query parameters that the interface leaves open. Default: the client's own defaults. */
  queryNames?: QueryNames | undefined
  /** Where webhooks are registered, below the base URL. Default: `'webhook'` (assumed: the interface shows none). */
  webhookRegistrationPath?: string | undefined
  /**
   * Sends webhook messages: hand in `receiver.fetch` to do without a network. Default: the platform's `fetch`, read
   * at each delivery.
   */
  deliver?: Deliver | undefined
  /** How long an endpoint may take to answer, in milliseconds. Default: 10 000 (assumed: the interface shows none). */
  deliveryTimeoutMs?: number | undefined
}

const SERVICE: OptionRules<CampaignServiceOptions> = {
  campaigns: anything,
  tokens: anything,
  clock: anything,
  seed: anything,
  queryNames: anything,
  webhookRegistrationPath: anything,
  deliver: anything,
  deliveryTimeoutMs: anything,
}

/** The campaign service, in a box. Made by {@link createCampaignService}. */
export interface CampaignService {
  /**
   * A `fetch` that reaches the service without a network: the `fetch` option of the client. The API is under
   * `/api/v1` of whatever host. It rejects as fetch does: with the signal's reason when aborted, with
   * `TypeError: fetch failed` when a fault loses the connection.
   */
  readonly fetch: typeof globalThis.fetch
  /**
   * Serves the same service with node:http on loopback. May be called more than once.
   *
   * @throws TypeError when `port` is not a port, or an option is unknown; the system's error when it cannot be had.
   */
  listen(options?: ListenOptions): Promise<ListeningService>
  /**
   * Makes requests to come fail. Faults wait in line: each request takes the first one that is for it.
   *
   * @throws TypeError when an option is wrong, saying which.
   */
  fail(options: FaultOptions): FaultHandle
  /**
   * Registers a webhook as the admin panel does. One whose `hook_id` is registered already is replaced (assumed).
   * Interface: Resources, Webhook registration record.
   *
   * @throws TypeError when an option is wrong, saying which.
   */
  registerWebhook(options: WebhookOptions): WebhookRecord
  /** Forgets a webhook; its deliveries under way go on. Whether there was one. */
  unregisterWebhook(hookId: string): boolean
  /** The registered webhooks, without their secrets. */
  readonly webhooks: readonly WebhookRecord[]
  /**
   * Sends an event to every webhook it applies to, signed where there is a secret. Nothing else changes: the user's
   * XP stays as it is. Interface: Events.
   *
   * @throws TypeError when it names a campaign, user, task or quest that is not there, or an option is wrong.
   */
  emit(event: EmitOptions): EmittedMessage
  /**
   * Presses the admin panel's Test button: sends a simulated `user_activity` once, without retries and without a
   * record among the deliveries (both assumed). Interface: Events, Test tool.
   *
   * Rejects with `TypeError` when the webhook, its URL, the campaign or the user is not there, or an option is unknown.
   */
  testWebhook(options: TestWebhookOptions): Promise<TestWebhookResult>
  /**
   * What became of each message at each endpoint, oldest first, copied at each access. Of those that have ended, the
   * oldest leave beyond 10 000.
   */
  readonly deliveries: readonly DeliveryRecord[]
  /** Resolves when no delivery is under way. Retries that wait for their time are not waited for. */
  settle(): Promise<void>
  /** The requests of late (10 000 at most), oldest first. */
  readonly requests: readonly RequestRecord[]
  /** What the service holds, copied at each access. */
  readonly state: StateSnapshot
  /** Back to the start: campaigns as seeded, no webhooks, deliveries or faults, an empty log. Servers go on. */
  reset(): void
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
 * @throws TypeError when an option is unknown or contradicts itself, saying where.
 */
export function createCampaignService(options: CampaignServiceOptions = {}): CampaignService {
  requireOptions('createCampaignService', options, SERVICE)
  const { campaigns = [demoCampaign], clock = systemClock } = options
  const router = new Router(options)
  const authenticator = new Authenticator(options.tokens)
  const faults = new FaultQueue()
  const log = new RequestLog()
  const posting = readPostSettings(options, clock)
  const deliveries = new Deliveries(posting)
  const start = () => {
    const ids = createIdSource(options.seed)
    const state = new ServiceState(campaigns, ids)
    const webhooks = new WebhookRegistry(ids)
    return { state, webhooks, sender: new WebhookSender(state, webhooks, deliveries, ids) }
  }
  let world = start()

  const answer = (request: ServiceRequest) =>
    exchange(request, {
      router,
      authenticator,
      faults,
      log,
      now: () => clock.now(),
      open: (grant) => ({
        state: world.state,
        webhooks: world.webhooks,
        grant,
        now: clock.now(),
        announce: (event) => world.sender.announce(event),
      }),
    })

  return {
    fetch: createServiceFetch(answer, clock),
    listen: (listenOptions) => listen(answer, clock, listenOptions),
    fail: (faultOptions) => faults.add(faultOptions),
    registerWebhook: (webhookOptions) => describeWebhook(world.webhooks.register(webhookOptions)),
    unregisterWebhook: (hookId) => world.webhooks.unregister(hookId),
    get webhooks() {
      return world.webhooks.records()
    },
    emit: (event) => world.sender.emit(event),
    testWebhook: (testOptions) => world.sender.test(testOptions, posting),
    get deliveries() {
      return deliveries.records()
    },
    settle: () => deliveries.settle(),
    get requests() {
      return log.records()
    },
    get state() {
      return takeSnapshot(world.state)
    },
    reset() {
      faults.clear()
      log.clear()
      deliveries.clear()
      world = start()
    },
  }
}

function readPostSettings(
  { deliver, deliveryTimeoutMs = 10_000 }: CampaignServiceOptions,
  clock: ServiceClock,
): PostSettings {
  if (deliver !== undefined && typeof deliver !== 'function') {
    throw new TypeError('deliver must be a function that takes a Request and gives a Response')
  }
  if (!Number.isFinite(deliveryTimeoutMs) || deliveryTimeoutMs <= 0) {
    throw new TypeError('deliveryTimeoutMs must be a positive number of milliseconds')
  }
  return { clock, timeoutMs: deliveryTimeoutMs, deliver: deliver ?? ((request) => globalThis.fetch(request)) }
}
