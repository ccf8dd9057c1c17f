import type { CampaignClient, CampaignClientOptions } from 'campaign-client'
import { accessTokenOf, baseUrlOf } from './environment.ts'
import { usageFailure } from './exit.ts'
import { proxyAgentFor } from './proxy.ts'

type Options = Omit<CampaignClientOptions, 'baseUrl' | 'accessToken' | 'transport' | 'fetch'>

/** A client of the service that the environment names. */
export async function connect(env: NodeJS.ProcessEnv, options: Options = {}): Promise<CampaignClient> {
  const baseUrl = baseUrlOf(env)
  const accessToken = accessTokenOf(env)
  const { CampaignClient, ConfigurationError } = await import('campaign-client')
  const { nodeTransport } = await import('campaign-client/node')
  const agent = URL.canParse(baseUrl) ? await proxyAgentFor(baseUrl) : undefined
  try {
    return new CampaignClient({ ...options, baseUrl, accessToken, transport: nodeTransport(agent && { agent }) })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    // The user of the command knows the options by other names.
    const message = error.message
      .replace(/^CampaignClient: /, '')
      .replace(/; allowInsecureHttp: true accepts it|; pass query with a call|, or a function\b/g, '')
      .replace(/\bbaseUrl\b/g, 'CAMPAIGN_BASE_URL')
      .replace(/\baccessToken\b/g, 'CAMPAIGN_ACCESS_TOKEN')
      .replace(/\bwebhookRegistrationPath\b/g, '--registration-path')
    throw usageFailure(message)
  }
}
