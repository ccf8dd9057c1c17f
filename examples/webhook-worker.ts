/**
 * A webhook endpoint as a Worker whose secrets come with each request, in
 * `env`. It answers a completed quest with an award, through the client.
 *
 * Set CAMPAIGN_BASE_URL as a variable, CAMPAIGN_ACCESS_TOKEN and
 * CAMPAIGN_WEBHOOK_SECRET as secrets.
 */
import { BadRequestError, CampaignClient } from 'campaign-client'
import {
  createWebhookReceiver,
  type WaitUntilContext,
  type WebhookReceiver,
} from 'campaign-client/webhook'

interface Env {
  readonly CAMPAIGN_BASE_URL: string
  readonly CAMPAIGN_ACCESS_TOKEN: string
  readonly CAMPAIGN_WEBHOOK_SECRET: string
}

function createReceiver(env: Env): WebhookReceiver {
  const client = new CampaignClient({
    baseUrl: env.CAMPAIGN_BASE_URL,
    accessToken: env.CAMPAIGN_ACCESS_TOKEN,
  })
  return createWebhookReceiver({
    endpoint: 'campaign',
    secret: env.CAMPAIGN_WEBHOOK_SECRET,
    async handle(event, { signal }) {
      if (event.kind !== 'quest_completed' || event.payload.wallet === '')
        return
      const { wallet, campaign } = event.payload
      const award = {
        address: wallet,
        pid: campaign.id,
        id: `quest-bonus:${event.id}`,
        xp: 50,
      }
      try {
        await client.rewardWallet(award, { signal })
      } catch (error) {
        // Isolates share no memory, so two may handle a message. The service
        // accepts its id once.
        if (!(error instanceof BadRequestError)) throw error
        console.warn(
          `${award.id} was refused: most likely it has been awarded before`,
        )
      }
    },
  })
}

// One for each isolate, made by its first request: secrets are not there
// before.
let receiver: WebhookReceiver | undefined

export default {
  async fetch(
    request: Request,
    env: Env,
    context: WaitUntilContext,
  ): Promise<Response> {
    if (new URL(request.url).pathname !== '/webhooks/campaign')
      return new Response(null, { status: 404 })
    receiver ??= createReceiver(env)
    // With the context, a handler that outlives its answer may finish.
    return receiver.fetch(request, context)
  },
}
