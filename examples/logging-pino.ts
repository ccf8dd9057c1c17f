/**
 * Logs every attempt with pino, from the client's hooks:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 pino@10
 *   npx tsx logging-pino.ts
 *
 * Hooks never receive a token or a secret, so nothing has to be redacted.
 */
import { CampaignClient, type ClientHooks } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { type Logger, pino } from 'pino'

export function loggingHooks(logger: Logger): ClientHooks {
  return {
    onRequest: ({ operation, attempt }) =>
      logger.debug({ operation, attempt }, 'request to the campaign service'),
    onResponse: ({ operation, attempt, status, durationMs, headers }) => {
      const requestId = headers['x-request-id']
      const fields = { operation, attempt, status, durationMs, requestId }
      if (status >= 400) logger.warn(fields, 'error from the campaign service')
      else logger.info(fields, 'response from the campaign service')
    },
    // The client's errors contain no secret, not even in `cause`.
    onRetry: ({ operation, attempt, delayMs, error: err }) =>
      logger.warn({ operation, attempt, delayMs, err }, 'retry'),
    onEnd: ({ operation, attempts, outcome, error: err }) => {
      if (err)
        logger.error({ operation, attempts, outcome, err }, 'call failed')
    },
    onInvalidResponse: ({ operation, issues }) =>
      logger.warn({ operation, issues }, 'unexpected data'),
  }
}

const service = createCampaignService({ idSeed: 'logging' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1', // the base URL of your account
  accessToken: 'a-token-that-no-line-shows', // your access token
  fetch: service.fetch, // the local service; remove this line
  hooks: loggingHooks(pino({ level: 'debug' })),
})

service.fail({ on: 'getUserProgress', kind: 'status', status: 503 })
service.fail({ on: 'getUserProgress', kind: 'reset' })
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
await client.getUserProgress(ada)

service.fail({ on: 'recordActionValue', kind: 'reset' })
const value = { ...ada, cid: 'spread-the-word', aid: 'daily-visit', value: 1 }
await client.recordActionValue(value).catch(() => undefined)
