/**
 * Prometheus metrics of a client and a webhook receiver, from their hooks:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 prom-client@15
 *   npx tsx metrics-prometheus.ts
 *
 * Every label has few values. No label contains a user or a message, so the
 * number of time series stays small.
 */
import {
  CampaignClient,
  CampaignError,
  type ClientHooks,
} from 'campaign-client'
import {
  createCampaignService,
  createManualClock,
} from 'campaign-client/testing'
import {
  createWebhookReceiver,
  type WebhookReceiverOptions,
} from 'campaign-client/webhook'
import { Counter, Histogram, Registry } from 'prom-client'

export function clientMetrics(registry: Registry): ClientHooks {
  const registers = [registry]
  const calls = new Histogram({
    name: 'campaign_call_seconds',
    help: 'Duration of calls by result, including retries and waits.',
    labelNames: ['operation', 'result'],
    registers,
  })
  const responses = new Histogram({
    name: 'campaign_response_seconds',
    help: 'Duration of attempts until the response arrived, by status.',
    labelNames: ['operation', 'status'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const retries = new Counter({
    name: 'campaign_retries_total',
    help: 'Retries, by the error code of the failed attempt.',
    labelNames: ['operation', 'code'],
    registers,
  })
  return {
    onResponse: ({ operation, status, durationMs }) =>
      responses.observe({ operation, status }, durationMs / 1000),
    onRetry: ({ operation, error }) =>
      retries.inc({ operation, code: error.code }),
    onEnd: ({ operation, durationMs, error }) => {
      const result =
        error === undefined
          ? 'ok'
          : error instanceof CampaignError
            ? error.code
            : 'aborted'
      calls.observe({ operation, result }, durationMs / 1000)
    },
  }
}

export function webhookMetrics(
  registry: Registry,
): Pick<WebhookReceiverOptions, 'onHandled' | 'onReject'> {
  const registers = [registry]
  const handled = new Histogram({
    name: 'campaign_webhook_handler_seconds',
    help: 'Duration of handlers, by outcome.',
    labelNames: ['endpoint', 'kind', 'outcome'],
    registers,
  })
  const rejected = new Counter({
    name: 'campaign_webhook_rejected_total',
    help: 'Requests that were rejected, by reason.',
    labelNames: ['endpoint', 'reason'],
    registers,
  })
  return {
    onHandled: ({ endpoint, kind, outcome, ranMs }) =>
      handled.observe({ endpoint, kind, outcome }, ranMs / 1000),
    onReject: ({ endpoint, reason }) => rejected.inc({ endpoint, reason }),
  }
}

const registry = new Registry()
const receiver = createWebhookReceiver({
  endpoint: 'campaign',
  secret: 'a-webhook-secret',
  handle: () => undefined,
  ...webhookMetrics(registry),
})

const clock = createManualClock()
const service = createCampaignService({
  idSeed: 'metrics',
  clock,
  deliver: receiver.fetch,
})
const hook = { scope: 'user_activity', url: 'https://partner.example/hook' }
service.registerWebhook({ ...hook, secret: 'a-webhook-secret' })
service.registerWebhook({ ...hook, secret: 'another-secret' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
  fetch: service.fetch,
  maxRetries: 0,
  hooks: clientMetrics(registry),
})

const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
await client.getUserProgress(ada)
await client
  .getUserProgress({ ...ada, pid: 'no-such-campaign' })
  .catch(() => undefined)
service.emit({ kind: 'action_completed', ...ada, aid: 'follow' })
await clock.advance(0)

// Serve this text at the route `/metrics` of your program.
console.log(await registry.metrics())
