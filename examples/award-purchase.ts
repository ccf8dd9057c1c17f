/**
 * A purchase earns 50 XP. Your payment provider calls `POST /purchases` until
 * it gets 200. Start any number of these processes, on one machine:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 express@5
 *   CAMPAIGN_BASE_URL=… CAMPAIGN_ACCESS_TOKEN=… npx tsx award-purchase.ts
 */
import type { AddressInfo } from 'node:net'
import { CampaignClient, InvalidRequestError } from 'campaign-client'
import { awardOne, fileLedger, rewardId } from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import express from 'express'

const { CAMPAIGN_BASE_URL: baseUrl = '', PORT = '3000' } = process.env
const { LEDGER = 'purchases.ledger', CAMPAIGN_PID: pid = 'demo' } = process.env
const accessToken = process.env.CAMPAIGN_ACCESS_TOKEN ?? ''
const transport = nodeTransport()
const client = new CampaignClient({ baseUrl, accessToken, transport })
const ledger = fileLedger(LEDGER)
const show = `npx campaign-client ledger ${LEDGER} --explain --id`

const app = express().use(express.json())
app.post('/purchases', async ({ body: { order, wallet } }, response) => {
  try {
    const award = { address: wallet, pid, xp: 50 }
    const id = rewardId({ ...award, reason: `purchase ${order}` })
    const verdict = await awardOne(client, { ...award, id }, { ledger })
    if (verdict === 'unconfirmed') console.error(`tell a person: ${show} ${id}`)
    response.json({ verdict })
  } catch (error) {
    // A retry does not help if the wallet is invalid.
    const status = error instanceof InvalidRequestError ? 400 : 503
    response.status(status).json({ error: String(error) })
  }
})
const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`listening on http://127.0.0.1:${port}`)
})
