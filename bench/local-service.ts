/** Child process: the local service. Sends its base URL to the parent, and resets on every message. */
import { createCampaignService } from 'campaign-client/testing'
import { stayAwake } from './stay-awake.ts'

const service = createCampaignService()
const { url } = await service.listen()
process.on('message', () => {
  service.reset()
  process.send?.('reset')
})
stayAwake()
process.on('disconnect', () => process.exit())
process.send?.(url)
