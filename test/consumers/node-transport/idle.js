import { CampaignClient } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'

// If an idle connection kept the process alive, it would run for an hour.
const transport = nodeTransport({ keepAliveMs: 3_600_000 })
const client = new CampaignClient({ baseUrl: process.argv[2], accessToken: 'token', transport })
console.log((await client.getCampaignInfo({ pid: 'demo' })).id)
if (process.argv[3] === 'exit') process.exit(7)
