/**
 * Sends awards as jobs of pg-boss:
 *
 *   DATABASE_URL=postgres://… npx tsx examples/award-queue-pg-boss.ts
 *
 * Queue and ledger are in PostgreSQL. You can run several of these processes.
 *
 * A job may run twice, even at the same time: pg-boss starts it again when it
 * takes longer than `expireInSeconds`. The ledger records every attempt, and
 * allows one at a time for each award.
 */
import { CampaignClient } from 'campaign-client'
import {
  type AwardRow,
  AwardUnsettledError,
  awardOne,
  rewardId,
} from 'campaign-client/bulk'
import {
  postgresLedger,
  postgresLedgerSchema,
} from 'campaign-client/bulk/postgres'
import { nodeTransport } from 'campaign-client/node'
import { createCampaignService } from 'campaign-client/testing'
import { Pool } from 'pg'
import PgBoss from 'pg-boss'

const QUEUE = 'awards'
const connectionString = process.env.DATABASE_URL
if (connectionString === undefined)
  throw new Error('set DATABASE_URL to the URL of a PostgreSQL database')

const service = createCampaignService()
const { url, close } = await service.listen()
const transport = nodeTransport()
const client = new CampaignClient({
  baseUrl: url,
  accessToken: 'any',
  transport,
  maxRetries: 0,
})

const pool = new Pool({ connectionString })
pool.on('error', (error) => console.error(error))
await pool.query(postgresLedgerSchema())
const ledger = postgresLedger(pool, { run: 'launch-party-2026' })

const boss = new PgBoss({ connectionString })
boss.on('error', (error) => console.error(error))
await boss.start()
// `awardOne` throws until the award is settled, and pg-boss retries the job.
await boss.createQueue(QUEUE, {
  name: QUEUE,
  retryLimit: 100,
  retryDelay: 1,
  expireInSeconds: 120,
})

const verdicts: string[] = []
const settled = new Promise<void>((resolve) => {
  void boss.work<AwardRow>(
    QUEUE,
    { batchSize: 1, pollingIntervalSeconds: 0.5 },
    async ([job]) => {
      if (job === undefined) return
      try {
        verdicts.push(
          `${job.data.xp} XP: ${await awardOne(client, job.data, { ledger })}`,
        )
        if (verdicts.length === 3) resolve()
      } catch (error) {
        if (error instanceof AwardUnsettledError)
          console.log(`${job.data.xp} XP: ${error.reason}, will be retried`)
        throw error
      }
    },
  )
})

const award = (guest: number): AwardRow => {
  const address = `0x${guest.toString(16).padStart(40, '0')}`
  return {
    address,
    pid: 'demo',
    id: rewardId({ pid: 'demo', address, reason: 'launch party' }),
    xp: 100 * guest,
  }
}
service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
// The second award is queued twice.
for (const guest of [1, 2, 2]) await boss.send(QUEUE, award(guest))

await settled
console.log(verdicts.sort().join('\n'))
console.log(`the service has ${service.state.awards.length} awards`)

await boss.stop({ graceful: false })
await pool.end()
transport.close()
await close()
