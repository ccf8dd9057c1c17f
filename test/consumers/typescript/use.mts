import { CampaignClient, CampaignError, isCampaignError, RateLimitError, type UserProgress } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { userProgress } from 'campaign-client/schemas'
import { type CampaignService, createCampaignService } from 'campaign-client/testing'
import { signWebhook, verifyWebhook, type WebhookEvent } from 'campaign-client/webhook'
import { postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'

const service: CampaignService = createCampaignService()
const client = new CampaignClient({
  baseUrl: 'https://campaign.example/api/v1',
  accessToken: async () => 'token',
  fetch: service.fetch,
})

async function taskNames(account: string): Promise<string[]> {
  const progress: UserProgress = await client.getUserProgress({ account, platform: 'discord', pid: 'demo' })
  // @ts-expect-error `xp` is a number
  progress.xp satisfies string
  return userProgress.parse(progress).actions.map((task) => task.name)
}

export function describeEvent(event: WebhookEvent): string {
  switch (event.kind) {
    case 'action_completed':
      return event.payload.event.data.action.id
    case 'quest_completed':
      return event.payload.user
    case 'unknown':
      return event.id
  }
}

export const retryAfter = (error: unknown): number | undefined =>
  error instanceof RateLimitError ? error.retryAfterMs : undefined

export function describeError(error: unknown): string {
  if (!isCampaignError(error)) return String(error)
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

// @ts-expect-error a transport replaces fetch
export const ambiguous = () => new CampaignClient({ baseUrl: '', accessToken: '', fetch, transport: nodeTransport() })
// @ts-expect-error an account is missing
export const incomplete = () => client.getUserProgress({ platform: 'discord', pid: 'demo' })
// @ts-expect-error a store needs a client
export const storeless = () => [redisStore(1), postgresStore('postgres://')]

const names = await taskNames('ada')
const genuine: boolean = verifyWebhook('secret', '{}', signWebhook('secret', '{}'))
const forged: boolean = verifyWebhook('secret', '{ }', signWebhook('secret', '{}'))
const error: CampaignError = new CampaignError('made by hand', { code: 'custom' })
console.log(JSON.stringify({ names, genuine, forged, error: error instanceof CampaignError }))
