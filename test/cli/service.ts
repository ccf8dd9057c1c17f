import { type CampaignService, type CampaignServiceOptions, createCampaignService } from 'campaign-client/testing'
import { onTestFinished } from 'vitest'

/** Starts a service on a port. Returns it with the environment for a command. */
export async function listeningService(
  options?: CampaignServiceOptions,
): Promise<{ service: CampaignService; env: Record<string, string> }> {
  const service = createCampaignService(options)
  const server = await service.listen()
  onTestFinished(() => server.close())
  return { service, env: { CAMPAIGN_BASE_URL: server.url, CAMPAIGN_ACCESS_TOKEN: 'any' } }
}
