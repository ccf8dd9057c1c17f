/** The service in a box, in a process of its own. Tells its parent the base URL, and forgets everything when it is told to. */
import { createCampaignService } from 'campaign-client/testing'

const service = createCampaignService()
const { url } = await service.listen()
process.on('message', () => {
  service.reset()
  process.send?.('empty')
})
process.on('disconnect', () => process.exit())
process.send?.(url)
