import { CampaignClient, type CommonClientOptions, type FetchLike } from 'campaign-client'
import { type CampaignService, type CampaignServiceOptions, createCampaignService } from 'campaign-client/testing'
import { TOKEN } from './secrets.ts'

/** Creates a client of a service in this process, without a network. */
export function createLocalClient(
  options: Partial<CommonClientOptions> & { fetch?: FetchLike | undefined } = {},
  serviceOptions: CampaignServiceOptions = {},
): { client: CampaignClient; service: CampaignService } {
  const service = createCampaignService({ tokens: [TOKEN], ...serviceOptions })
  const client = new CampaignClient({
    baseUrl: 'https://campaign.example/api/v1',
    accessToken: TOKEN,
    fetch: service.fetch,
    ...options,
  })
  return { client, service }
}

/** A user of the demo campaign. */
export const ADA = { account: 'ada', platform: 'discord', pid: 'demo' }

export const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'
