import type { CampaignClient } from '../client.ts'
import { ConfigurationError } from '../errors/client-errors.ts'
import type { ClientHooks } from '../options.ts'
import { accessTokenOf, allowedCampaignsOf, baseUrlOf, isReadOnly, refuseExpiredToken } from './environment.ts'
import { issuesText, usageFailure } from './failure.ts'
import { proxyAgentFor } from './proxy.ts'

/** The names that messages show instead of the client's options. */
const SETTINGS = {
  baseUrl: 'CAMPAIGN_BASE_URL',
  accessToken: 'CAMPAIGN_ACCESS_TOKEN',
  guard: 'CAMPAIGN_ALLOWED_CAMPAIGNS',
  webhookRegistrationPath: '--registration-path',
}

/**
 * Creates a client from the environment. CAMPAIGN_ALLOWED_CAMPAIGNS becomes the client's `guard`.
 *
 * @throws CommandFailure when a variable is wrong, or the token has expired
 */
export async function connect(
  env: NodeJS.ProcessEnv,
  { webhookRegistrationPath, hooks }: { webhookRegistrationPath?: string | undefined; hooks?: ClientHooks } = {},
): Promise<CampaignClient> {
  const baseUrl = baseUrlOf(env)
  const accessToken = accessTokenOf(env)
  const campaigns = allowedCampaignsOf(env)
  // Reject a wrong value of CAMPAIGN_READ_ONLY, even for a read.
  isReadOnly(env)
  const agent = URL.canParse(baseUrl) ? await proxyAgentFor(baseUrl) : undefined
  const guard = campaigns && { campaigns }
  refuseExpiredToken(env)
  // Imported only here, because these two load more modules than the rest of the command.
  const { CampaignClient } = await import('../client.ts')
  const { nodeTransport } = await import('../transports/node/index.ts')
  const transport = nodeTransport(agent && { agent })
  try {
    return new CampaignClient({ baseUrl, accessToken, guard, transport, webhookRegistrationPath, hooks })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw usageFailure(issuesText(error.issues, SETTINGS))
  }
}
