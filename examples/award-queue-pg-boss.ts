/**
 * Sends awards as jobs of pg-boss:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 pg@8 pg-boss@12
 *   DATABASE_URL=postgres://… npx tsx award-queue-pg-boss.ts
 *
 * Queue and ledger are in PostgreSQL. You can run several of these processes.
 *
 * A job may run twice, even at the same time: pg-boss starts it again when it
 * takes longer than `expireInSeconds`. The ledger records every attempt, and
 * allows one at a time for each award.
 */
import { CampaignClient, InvalidRequestError } from 'campaign-client'
import { type AwardRow, awardOne, rewardId } from 'campaign-client/bulk'
import {
  postgresLedger,
  postgresLedgerSchema,
} from 'campaign-client/bulk/postgres'
import { nodeTransport } from 'campaign-client/node'
import { createCampaignService } from 'campaign-client/testing'
import { Pool } from 'pg'
import { type Job, type JobResult, PgBoss } from 'pg-boss'

const QUEUE = 'awards'
const FAILED = 'awards-failed'
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
await boss.createQueue(FAILED, { retentionSeconds: 90 * 86_400 })
// `awardOne` throws until the award has a verdict. pg-boss retries the job for
// about three days, then moves it to the dead-letter queue.
await boss.createQueue(QUEUE, {
  retryLimit: 450,
  retryBackoff: true,
  retryDelay: 1,
  retryDelayMax: 600,
  expireInSeconds: 120,
  deadLetter: FAILED,
})

const verdicts: string[] = []
let resolve: () => void = () => undefined
const ended = new Promise<void>((done) => {
  resolve = done
})

/** Tells a person about an award that nobody could confirm. */
function warnUnconfirmed({ id, address, pid }: AwardRow): void {
  console.warn(
    `award ${id} is unconfirmed: look for it in "rewards" of ` +
      'npx campaign-client call getUserProgress ' +
      `--account ${address} --platform ethereum --pid ${pid}`,
  )
}

async function run({ id, data }: Job<AwardRow>): Promise<JobResult> {
  try {
    const verdict = await awardOne(client, data, { ledger })
    verdicts.push(`${data.xp} XP: ${verdict}`)
    if (verdict === 'unconfirmed') warnUnconfirmed(data)
    if (verdicts.length === 3) resolve()
    return { id, status: 'completed' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // An invalid award cannot succeed. Retry all other errors.
    const isFinal = error instanceof InvalidRequestError
    console.log(
      `${data.xp} XP: ${isFinal ? 'failed' : 'will be retried'}: ${message}`,
    )
    const status = isFinal ? 'deadletter' : 'failed'
    return { id, status, output: { message } }
  }
}

await boss.work<AwardRow>(
  QUEUE,
  {
    batchSize: 10,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
    perJobResults: true,
  },
  (jobs) => Promise.all(jobs.map(run)),
)

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

await ended
console.log(verdicts.sort().join('\n'))
console.log(`the service has ${service.state.awards.length} awards`)

await boss.stop({ graceful: false })
await pool.end()
transport.close()
await close()
