import { CampaignClient, type CampaignClientOptions } from 'campaign-client'

export const user = { account: 'ada', platform: 'discord', pid: 'demo' }

export const newClient = (options: Partial<CampaignClientOptions> = {}) =>
  new CampaignClient({ baseUrl: process.env.CAMPAIGN_BASE_URL ?? '', accessToken: 'a-static-token', ...options })

/** Returns a JWT that expires in an hour. */
export async function expiringToken() {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  return `${encode({ alg: 'none' })}.${encode({ exp: Math.floor(Date.now() / 1000) + 3600 })}.signature`
}
