import { CampaignClient, CampaignError, UnauthorizedError } from 'campaign-client'
import { userProgress } from 'campaign-client/schemas'
import { createCampaignService } from 'campaign-client/testing'
import { parseWebhook, signWebhook, verifyWebhook } from 'campaign-client/webhook'

/** What a page does with the package; the test looks at what it found. */
globalThis.appDone = (async () => {
  const service = createCampaignService({ tokens: ['token'] })
  const options = { baseUrl: 'https://campaign.example/api/v1', fetch: service.fetch }
  const client = new CampaignClient({ ...options, accessToken: 'token' })
  const progress = await client.getUserProgress({ account: 'ada', platform: 'discord', pid: 'demo' })
  const stranger = new CampaignClient({ ...options, accessToken: 'stranger' })
  const refused = await stranger.getCampaignInfo({ pid: 'demo' }).catch((error) => error)
  const signature = signWebhook('secret', '{"id":"1"}')
  let forged
  try {
    parseWebhook('secret', '{"id":"2"}', signature)
  } catch (error) {
    forged = error instanceof CampaignError && error.code
  }
  return {
    user: userProgress.parse(progress).user_id,
    unauthorized: refused instanceof UnauthorizedError,
    signature,
    genuine: verifyWebhook('secret', '{"id":"1"}', signature),
    forged,
  }
})()
