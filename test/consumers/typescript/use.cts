import type * as esm from 'campaign-client' with { 'resolution-mode': 'import' }

import client = require('campaign-client')
import testing = require('campaign-client/testing')
import webhook = require('campaign-client/webhook')
import schemas = require('campaign-client/schemas')
import redis = require('campaign-client/webhook/redis')
import postgres = require('campaign-client/webhook/postgres')

async function taskNames(account: string): Promise<string[]> {
  const service: testing.CampaignService = testing.createCampaignService()
  const { getUserProgress } = {
    getUserProgress: (pid: string) =>
      new client.CampaignClient({
        baseUrl: 'https://campaign.example/api/v1',
        accessToken: 'token',
        fetch: service.fetch,
      }).getUserProgress({ account, platform: 'discord', pid }),
  }
  const progress: client.UserProgress = await getUserProgress('demo')
  // @ts-expect-error `xp` is a number
  const text: string = progress.xp
  void text
  return schemas.userProgress.parse(progress).actions.map((task) => task.name)
}

/** Objects of the other copy of the package fit. */
export const fitting = (
  one: client.CampaignClient,
  other: esm.CampaignClient,
  error: esm.RateLimitError,
): readonly [esm.CampaignClient, client.CampaignClient, client.RateLimitError] => [one, other, error]

function describeError(error: unknown): string {
  if (!client.isCampaignError(error)) return String(error)
  switch (error.code) {
    case 'rate_limited':
      return `wait ${error.retryAfterMs ?? 0} ms`
    case 'configuration':
      return error.issues.map(({ path }) => path.join('.')).join()
    case 'api_error':
      return String(error.status)
    default:
      return error.code
  }
}
void describeError

// @ts-expect-error a store needs a client
const storeless = () => [redis.redisStore(1), postgres.postgresStore('postgres://')]
void storeless

void taskNames('ada').then((names) => {
  const genuine: boolean = webhook.verifyWebhook('secret', '{}', webhook.signWebhook('secret', '{}'))
  const forged: boolean = webhook.verifyWebhook('secret', '{ }', webhook.signWebhook('secret', '{}'))
  const error: client.CampaignError = new client.CampaignError('made by hand', { code: 'custom' })
  console.log(JSON.stringify({ names, genuine, forged, error: error instanceof client.CampaignError }))
})
