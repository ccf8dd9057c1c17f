/**
 * A webhook endpoint as a Cloudflare Worker. For each completed quest it awards
 * 50 XP to the user's wallet.
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
        // Isolates do not share memory, so two may handle the same message. The
        // service accepts the award's id once.
        if (!(error instanceof BadRequestError)) throw error
        // With the outcome `unknown`, an earlier attempt of this call very
        // likely made the award. Otherwise the request broke another rule, or
        // another isolate made the award: check the wallet's progress.
        if (error.outcome === 'not_applied')
          console.error(`${award.id} was refused: look for it in the progress`)
      }
    },
  })
}

// Created by the first request of each isolate, because secrets come with the
// request.
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
    // With the context, a handler may finish after its response.
    return receiver.fetch(request, context)
  },
}
