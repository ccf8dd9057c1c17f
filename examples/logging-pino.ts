/**
 * One log line per attempt, through the client's hooks:
 *
 *   npx tsx examples/logging-pino.ts
 *
 * No hook ever gets a token: there is nothing to redact.
 */
import { CampaignClient, type ClientHooks } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { type Logger, pino } from 'pino'

export function loggingHooks(logger: Logger): ClientHooks {
  return {
    onRequest: ({ operation, method, path, attempt }) => {
      logger.debug(
        { operation, method, path, attempt },
        'asking the campaign service',
      )
    },
    onResponse: ({ operation, attempt, status, durationMs, headers }) => {
      const fields = {
        operation,
        attempt,
        status,
        durationMs: Math.round(durationMs),
        requestId: headers['x-request-id'],
      }
      if (status >= 400) logger.warn(fields, 'the campaign service refused')
      else logger.info(fields, 'the campaign service answered')
    },
    onRetry: ({ operation, attempt, delayMs, error }) => {
      // No error of the client holds a secret, in no field and no cause.
      logger.warn(
        { operation, attempt, delayMs: Math.round(delayMs), err: error },
        'asking again',
      )
    },
    onEnd: ({ operation, attempts, durationMs, outcome, error }) => {
      if (error === undefined) return
      logger.error(
        {
          operation,
          attempts,
          durationMs: Math.round(durationMs),
          outcome,
          err: error,
        },
        'the call failed',
      )
    },
    onInvalidResponse: ({ operation, issues }) => {
      logger.warn(
        { operation, issues },
        'the campaign service answered in another shape',
      )
    },
  }
}

const service = createCampaignService({ seed: 'logging' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'a-token-that-no-line-shows',
  fetch: service.fetch, // leave it out to reach the real one
  hooks: loggingHooks(pino({ level: 'debug' })),
})

service.fail({ on: 'getUserProgress', kind: 'status', status: 503 })
service.fail({ on: 'getUserProgress', kind: 'reset' })
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
await client.getUserProgress(ada)

service.fail({ on: 'recordActionValue', kind: 'reset' })
const value = { ...ada, cid: 'spread-the-word', aid: 'daily-visit', value: 1 }
await client.recordActionValue(value).catch(() => undefined)
