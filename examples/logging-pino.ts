/**
 * One line of log per attempt, through the client's hooks: `npx tsx examples/logging-pino.ts`.
 *
 * `Logger` is what pino has, so `loggingHooks(pino())` works as it is; so do bunyan and most others. The small logger
 * below stands in for it, and prints what pino would. No hook ever gets a token: there is nothing to redact.
 */
import { CampaignClient, type ClientHooks } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export function loggingHooks(logger: Logger): ClientHooks {
  return {
    onRequest: ({ operation, method, path, attempt }) => {
      logger.debug({ operation, method, path, attempt }, 'asking the campaign service')
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
      // Errors of the client are made for logs: `toJSON` gives their fields, and none of them holds a secret.
      logger.warn({ operation, attempt, delayMs: Math.round(delayMs), err: error.toJSON() }, 'asking again')
    },
    onInvalidResponse: ({ operation, issues }) => {
      logger.warn({ operation, issues }, 'the campaign service answered in another shape')
    },
  }
}

const LEVELS = { debug: 20, info: 30, warn: 40 }
const write = (level: keyof typeof LEVELS) => (fields: object, msg: string) =>
  console.log(JSON.stringify({ level: LEVELS[level], ...fields, msg }))
const logger: Logger = { debug: write('debug'), info: write('info'), warn: write('warn') }

const service = createCampaignService({ seed: 'logging' })
const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'a-token-that-no-line-shows',
  fetch: service.fetch,
  hooks: loggingHooks(logger),
})

service.fail({ on: 'getUserProgress', kind: 'status', status: 503 })
service.fail({ on: 'getUserProgress', kind: 'reset' })
await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
