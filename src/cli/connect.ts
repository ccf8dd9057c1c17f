import type { CampaignClient, CampaignClientOptions } from 'campaign-client'
import { accessTokenOf, allowedCampaignsOf, baseUrlOf, isReadOnly } from './environment.ts'
import { usageFailure, withoutDocsPath } from './failure.ts'
import { proxyAgentFor } from './proxy.ts'

type Options = Pick<CampaignClientOptions, 'webhookRegistrationPath'>

/** Creates a client from the environment. CAMPAIGN_ALLOWED_CAMPAIGNS becomes the client's `guard`. */
export async function connect(env: NodeJS.ProcessEnv, options: Options = {}): Promise<CampaignClient> {
  const baseUrl = baseUrlOf(env)
  const accessToken = accessTokenOf(env)
  const campaigns = allowedCampaignsOf(env)
  // Reject a wrong value of CAMPAIGN_READ_ONLY, even for a read.
  isReadOnly(env)
  const { CampaignClient, ConfigurationError } = await import('campaign-client')
  const { nodeTransport } = await import('campaign-client/node')
  const agent = URL.canParse(baseUrl) ? await proxyAgentFor(baseUrl) : undefined
  const transport = nodeTransport(agent && { agent })
  const guard = campaigns && { campaigns: [...campaigns] }
  try {
    return new CampaignClient({ ...(guard && { guard }), ...options, baseUrl, accessToken, transport })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    // The user knows the names of variables and flags, not those of the client's options.
    const message = withoutDocsPath(error.message)
      .replace(/^CampaignClient: /, '')
      .replace(/; allowInsecureHttp: true accepts it|; pass query with a call|, or a function\b/g, '')
      .replace(/\bbaseUrl\b/g, 'CAMPAIGN_BASE_URL')
      .replace(/\baccessToken\b/g, 'CAMPAIGN_ACCESS_TOKEN')
      .replace(/\bwebhookRegistrationPath\b/g, '--registration-path')
    throw usageFailure(message)
  }
}
