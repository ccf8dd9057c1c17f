/** Child process: the local service. Sends its base URL to the parent, and resets on every message. */
import { createCampaignService } from 'campaign-client/testing'

const service = createCampaignService()
const { url } = await service.listen()
process.on('message', () => {
  service.reset()
  process.send?.('reset')
})
process.on('disconnect', () => process.exit())
process.send?.(url)
