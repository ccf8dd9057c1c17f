/**
 * A span for each call and each attempt, from the client's hooks:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 @opentelemetry/api@1 \
 *     @opentelemetry/context-async-hooks@2 @opentelemetry/sdk-trace-base@2
 *   npx tsx tracing-opentelemetry.ts
 *
 * `tracingHooks` and `traced` need only `@opentelemetry/api`. The code below
 * them sets up an SDK that prints each span. Omit it if your program has set up
 * OpenTelemetry already.
 */
import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import {
  CampaignClient,
  CampaignError,
  type ClientHooks,
} from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

const tracer = trace.getTracer('campaign-client')

/** Creates a span for each response, and an event for each retry. */
export const tracingHooks: ClientHooks = {
  // The span is created after the response, with the start time of the attempt.
  // So an attempt without a response leaves no open span.
  onResponse: ({ operation, method, path, attempt, status, durationMs }) => {
    const span = tracer.startSpan(`${method} /${path}`, {
      startTime: Date.now() - durationMs,
      attributes: {
        'http.request.method': method,
        'http.response.status_code': status,
        'http.request.resend_count': attempt - 1,
        'campaign.operation': operation,
      },
    })
    if (status >= 400) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  },
  onRetry: ({ attempt, delayMs, error }) => {
    const attributes = {
      attempt,
      delay_ms: Math.round(delayMs),
      'error.type': error.code,
    }
    trace.getActiveSpan()?.addEvent('retry', attributes)
  },
}

/** Runs a call in a span that records its error. */
export function traced<Result>(
  name: string,
  run: () => Promise<Result>,
): Promise<Result> {
  return tracer.startActiveSpan(name, async (span) => {
    try {
      return await run()
    } catch (error) {
      if (error instanceof CampaignError) {
        span.setAttribute('error.type', error.code)
        if (error.outcome !== undefined)
          span.setAttribute('campaign.outcome', error.outcome)
      }
      span.setStatus({
        code: SpanStatusCode.ERROR,
        message: error instanceof Error ? error.message : String(error),
      })
      throw error
    } finally {
      span.end()
    }
  })
}

const exporter = {
  export(
    spans: ReadableSpan[],
    done: (result: { code: number }) => void,
  ): void {
    for (const {
      name,
      status,
      attributes,
      events,
      parentSpanContext,
    } of spans) {
      const depth = parentSpanContext ? '  ' : ''
      const end = status.code === SpanStatusCode.ERROR ? 'error' : 'ok'
      console.log(`${depth}${name} [${end}] ${JSON.stringify(attributes)}`)
      for (const event of events)
        console.log(
          `${depth}  · ${event.name} ${JSON.stringify(event.attributes)}`,
        )
    }
    done({ code: 0 })
  },
  shutdown: async () => undefined,
}
context.setGlobalContextManager(new AsyncLocalStorageContextManager())
trace.setGlobalTracerProvider(
  new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  }),
)

const service = createCampaignService({ idSeed: 'tracing' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
  fetch: service.fetch,
  hooks: tracingHooks,
})

service.fail({ on: 'getCampaignPoints', kind: 'status', status: 503 })
await traced('show the leaderboard', () =>
  client.getCampaignPoints({ pid: 'demo' }),
)

service.fail({ on: 'recordActionValue', kind: 'reset' })
const value = {
  account: 'ada',
  platform: 'discord',
  pid: 'demo',
  cid: 'welcome',
  aid: 'feedback',
  value: 1,
}
await traced('record feedback', () => client.recordActionValue(value)).catch(
  () => undefined,
)
