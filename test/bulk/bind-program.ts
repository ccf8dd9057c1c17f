/**
 * Makes three awards in each of many runs, in a child process that races with another one. Arguments: the address of the
 * database, the label of the target, and the prefix and number of the runs.
 */
import { CampaignClient } from 'campaign-client'
import { awardOne } from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { createCampaignService } from 'campaign-client/testing'
import { Pool } from 'pg'

/** What the process prints as JSON. */
export interface RaceResult {
  /** The number of awards that it made. */
  readonly awarded: number
  /** The number of awards that were refused because the run belongs to the other target. */
  readonly refused: number
}

const [, , database = '', label = '', prefix = '', runs = ''] = process.argv
const pool = new Pool({ connectionString: database, max: 6 })
pool.on('error', () => undefined)
const service = createCampaignService()
const client = new CampaignClient({
  baseUrl: `https://${label}.example/api/v1`,
  accessToken: 'a-token',
  fetch: service.fetch,
  maxRetries: 0,
})
let refused = 0
for (let run = 0; run < Number(runs); run++) {
  const ledger = postgresLedger(pool, { run: `${prefix}-${run}` })
  // The first award of some runs is released, so that the run is free again.
  if (run % 3 === 0) service.fail({ on: 'rewardWallet', kind: 'status', status: 403 })
  const made = [1, 2, 3].map((number) => {
    const address = `0x${number.toString(16).padStart(40, '0')}`
    return awardOne(client, { address, pid: 'demo', id: `${label}-${run}-${number}`, xp: 1 }, { ledger })
  })
  for (const result of await Promise.allSettled(made)) {
    if (result.status === 'rejected' && result.reason.code === 'configuration') refused++
  }
}
await pool.end()
const result: RaceResult = { awarded: service.state.awards.length, refused }
process.stdout.write(JSON.stringify(result))
