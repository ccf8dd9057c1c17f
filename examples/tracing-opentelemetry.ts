/**
 * A span for each call and one for each attempt, through the client's hooks: `npx tsx examples/tracing-opentelemetry.ts`.
 *
 * `Tracer` and `Span` are what `@opentelemetry/api` has: pass `trace.getTracer('campaign-client')` and, as `current`,
 * `trace.getActiveSpan`. The tracer below stands in for it, and prints each span when it ends.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { CampaignClient, CampaignError, type ClientHooks } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

type Attributes = Record<string, string | number>

interface Span {
  setAttribute(name: string, value: string | number): unknown
  addEvent(name: string, attributes?: Attributes): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
}

interface Tracer {
  startSpan(name: string, options: { startTime: number; attributes: Attributes }): Span
  startActiveSpan<Result>(name: string, run: (span: Span) => Result): Result
}

/** `SpanStatusCode.ERROR` of OpenTelemetry. */
const ERROR = 2

/** Attempts become spans of their own; retries become events of the call's span. */
export function tracingHooks(tracer: Tracer, current: () => Span | undefined): ClientHooks {
  return {
    // An answer tells how long it took, so its span is made afterwards, and none is left open when there is no answer.
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
      if (status >= 400) span.setStatus({ code: ERROR })
      span.end()
    },
    onRetry: ({ attempt, delayMs, error }) => {
      current()?.addEvent('retry', { attempt, delay_ms: Math.round(delayMs), 'error.type': error.code })
    },
  }
}

/** Runs a call in a span of its own, which tells how it ended. */
export function traced<Result>(tracer: Tracer, name: string, run: () => Promise<Result>): Promise<Result> {
  return tracer.startActiveSpan(name, async (span) => {
    try {
      return await run()
    } catch (error) {
      if (error instanceof CampaignError) {
        span.setAttribute('error.type', error.code)
        if (error.outcome !== undefined) span.setAttribute('campaign.outcome', error.outcome)
      }
      span.setStatus({ code: ERROR, message: error instanceof Error ? error.message : String(error) })
      throw error
    } finally {
      span.end()
    }
  })
}

const active = new AsyncLocalStorage<Span>()
function printedSpan(name: string, attributes: Attributes = {}): Span {
  const events: string[] = []
  let status = 'ok'
  const depth = active.getStore() === undefined ? '' : '  '
  return {
    setAttribute: (key, value) => Object.assign(attributes, { [key]: value }),
    addEvent: (event, details) => events.push(`${event} ${JSON.stringify(details)}`),
    setStatus: ({ code }) => {
      if (code === ERROR) status = 'error'
    },
    end: () => {
      console.log(`${depth}${name} [${status}] ${JSON.stringify(attributes)}`)
      for (const event of events) console.log(`${depth}  · ${event}`)
    },
  }
}
const tracer: Tracer = {
  startSpan: (name, { attributes }) => printedSpan(name, attributes),
  startActiveSpan: (name, run) => {
    const span = printedSpan(name)
    return active.run(span, () => run(span))
  },
}

const service = createCampaignService({ seed: 'tracing' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'any',
  fetch: service.fetch,
  hooks: tracingHooks(tracer, () => active.getStore()),
})

service.fail({ on: 'getCampaignPoints', kind: 'status', status: 503 })
await traced(tracer, 'show the leaderboard', () => client.getCampaignPoints({ pid: 'demo' }))

service.fail({ on: 'recordActionValue', kind: 'reset' })
const value = { account: 'ada', platform: 'discord', pid: 'demo', cid: 'welcome', aid: 'feedback', value: 1 }
await traced(tracer, 'record feedback', () => client.recordActionValue(value)).catch(() => undefined)
