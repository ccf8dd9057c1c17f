/** What the examples of the documentation take for granted: a partner's own code, a client, and a service. */
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'

/** The service that `https://service.example/api/v1` reaches while an example runs. */
export const service = createCampaignService({ seed: 'documentation' })

export const client = new CampaignClient({
  baseUrl: 'https://service.example/api/v1',
  accessToken: 'a-token',
  webhookRegistrationPath: 'webhook',
})

export const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
export const wallet = '0x52908400098527886E0F7030069857D2E4169EE7'
export const webhookSecret = 'a-webhook-secret'

export const loadTokenFromVault = async (): Promise<string> => 'a-token-from-a-vault'
export const loadWebhookSecret = async (): Promise<string> => webhookSecret
export const tryAgainIn = async (_ms: number): Promise<void> => undefined
export const reconcile = async (_operation: string | undefined): Promise<void> => undefined
export const credit = async (_user: string, _xp: number): Promise<void> => undefined
export const grantBadge = async (_user: string, _options?: { signal: AbortSignal }): Promise<void> => undefined
export const handle = async (_event: unknown): Promise<void> => undefined
