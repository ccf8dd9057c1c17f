/**
 * Works on jobs of a queue in a child process that tests can kill. Each job is one award. Its argument is a
 * {@link WorkerTask} as JSON.
 */
import type { Processor } from 'bullmq'
import { CampaignClient } from 'campaign-client'
import { type AwardRow, AwardUnsettledError, awardOne } from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { Pool } from 'pg'

export interface WorkerTask {
  readonly queue: string
  readonly database: string
  /** The address of Redis for BullMQ. Without it, the queue is pg-boss. */
  readonly redis?: string
  readonly baseUrl: string
  readonly run: string
}

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask
const pool = new Pool({ connectionString: task.database, max: 5 })
pool.on('error', () => undefined)
const ledger = postgresLedger(pool, { run: task.run, leaseMs: 900 })
const client = new CampaignClient({ baseUrl: task.baseUrl, accessToken: 'a-token', maxRetries: 1, timeoutMs: 700 })
async function work(award: AwardRow): Promise<string> {
  try {
    return await awardOne(client, award, { ledger })
  } catch (error) {
    process.stdout.write(`${error instanceof AwardUnsettledError ? error.reason : (error as Error).name}\n`)
    throw error
  }
}

// The process starts often: load only the queue that it needs.
if (task.redis === undefined) {
  const { PgBoss } = await import('pg-boss')
  const boss = new PgBoss({
    connectionString: task.database,
    schema: task.queue,
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
    maintenanceIntervalSeconds: 1,
  })
  boss.on('error', () => undefined)
  await boss.start()
  // Each of the six workers takes one job at a time.
  const options = { pollingIntervalSeconds: 0.5, batchSize: 1 }
  for (let count = 0; count < 6; count++)
    await boss.work<AwardRow>(task.queue, options, async ([job]) => job && work(job.data))
} else {
  const { Worker } = await import('bullmq')
  const { Redis } = await import('ioredis')
  const connection = new Redis(task.redis, { maxRetriesPerRequest: null })
  // The lock expires before it is extended, so another worker gets the same job.
  const lockOptions = { lockDuration: 250, lockRenewTime: 10_000, stalledInterval: 200, maxStalledCount: 1_000 }
  const processor: Processor<AwardRow> = (job) => work(job.data)
  new Worker(task.queue, processor, { connection, concurrency: 6, ...lockOptions }).on('error', () => undefined)
}
