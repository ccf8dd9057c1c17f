import { CampaignClient, type CampaignClientOptions } from 'campaign-client'

export const user = { account: 'ada', platform: 'discord', pid: 'demo' }

export const newClient = (options: Partial<CampaignClientOptions> = {}) =>
  new CampaignClient({ baseUrl: process.env.CAMPAIGN_BASE_URL ?? '', accessToken: 'a-static-token', ...options })
