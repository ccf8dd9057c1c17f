/**
 * Sends awards as jobs of BullMQ:
 *
 *   npm pkg set type=module
 *   npm install tsx@4 bullmq@6 ioredis@6 pg@8
 *   REDIS_URL=redis://… DATABASE_URL=postgres://… \
 *     npx tsx award-queue-bullmq.ts
 *
 * The queue is in Redis. The ledger is in PostgreSQL, because it must survive
 * when Redis loses data.
 *
 * A job may run twice, even at the same time: BullMQ starts it again when its
 * worker is blocked for longer than `lockDuration`. The ledger records every
 * attempt, and allows one at a time for each award.
 */
import { Queue, UnrecoverableError, Worker } from 'bullmq'
import { CampaignClient, InvalidRequestError } from 'campaign-client'
import { type AwardRow, awardOne, rewardId } from 'campaign-client/bulk'
import {
  postgresLedger,
  postgresLedgerSchema,
} from 'campaign-client/bulk/postgres'
import { nodeTransport } from 'campaign-client/node'
import { createCampaignService } from 'campaign-client/testing'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

const { REDIS_URL, DATABASE_URL } = process.env
if (REDIS_URL === undefined || DATABASE_URL === undefined)
  throw new Error('set REDIS_URL and DATABASE_URL')

const service = createCampaignService()
const { url, close } = await service.listen()
const transport = nodeTransport()
const client = new CampaignClient({
  baseUrl: url,
  accessToken: 'any',
  transport,
  maxRetries: 0,
})

const pool = new Pool({ connectionString: DATABASE_URL })
pool.on('error', (error) => console.error(error))
await pool.query(postgresLedgerSchema())
const ledger = postgresLedger(pool, { run: 'launch-party-2026' })

const connection = new Redis(REDIS_URL, { maxRetriesPerRequest: null })
const queue = new Queue<AwardRow>('awards', { connection })
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

const worker = new Worker<AwardRow>(
  'awards',
  async ({ data }) => {
    try {
      const verdict = await awardOne(client, data, { ledger })
      verdicts.push(`${data.xp} XP: ${verdict}`)
      if (verdict === 'unconfirmed') warnUnconfirmed(data)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      // An invalid award cannot succeed. BullMQ retries all other errors.
      const isFinal = error instanceof InvalidRequestError
      console.log(
        `${data.xp} XP: ${isFinal ? 'failed' : 'will be retried'}: ${message}`,
      )
      throw isFinal ? new UnrecoverableError(message) : error
    }
    if (verdicts.length === 3) resolve()
  },
  {
    connection,
    concurrency: 10,
    settings: {
      // 1, 2, 4, … seconds, then ten minutes.
      backoffStrategy: (attempts) =>
        Math.min(600_000, 1000 * 2 ** (attempts - 1)),
    },
  },
)
worker.on('error', (error) => console.error(error))

const award = (guest: number): AwardRow => {
  const address = `0x${guest.toString(16).padStart(40, '0')}`
  return {
    address,
    pid: 'demo',
    id: rewardId({ pid: 'demo', address, reason: 'launch party' }),
    xp: 100 * guest,
  }
}
// `awardOne` throws until the award has a verdict. BullMQ retries the job for
// about three days. Then it keeps the job in the set of failed jobs: list them
// with `queue.getFailed()`, and replay them with `queue.retryJobs()`.
const opts = { attempts: 450, backoff: { type: 'custom' } }
service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
// The second award is queued twice.
await queue.addBulk(
  [1, 2, 2].map((guest) => ({ name: 'award', data: award(guest), opts })),
)

await ended
console.log(verdicts.sort().join('\n'))
console.log(`the service has ${service.state.awards.length} awards`)

await worker.close()
await queue.close()
connection.disconnect()
await pool.end()
transport.close()
await close()
