/**
 * A webhook receiver that adds messages to a queue and responds at once, and a
 * worker that handles them, with pg-boss in PostgreSQL.
 *
 *   npm pkg set type=module
 *   npm install tsx@4 pg@8 pg-boss@12
 *   export DATABASE_URL=postgres://… CAMPAIGN_WEBHOOK_SECRET=…
 *   npx tsx webhook-queue.ts
 *
 * Set TEST_CAMPAIGN to the id of your test campaign, if you have one. The
 * messages of the panel's Test button then credit nothing there.
 *
 * You can run several of these processes and stop any of them at any time.
 * After eleven failed attempts a message moves to a dead-letter queue. List the
 * failed messages, and replay them when the worker is fixed:
 *
 *   npx tsx webhook-queue.ts failed
 *   npx tsx webhook-queue.ts replay
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createWebhookReceiver,
  isTestMessage,
  type WebhookEvent,
} from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool } from 'pg'
import { type Job, type JobResult, PgBoss } from 'pg-boss'

const {
  DATABASE_URL,
  CAMPAIGN_WEBHOOK_SECRET,
  TEST_CAMPAIGN,
  PORT = '3000',
} = process.env
if (!DATABASE_URL || !CAMPAIGN_WEBHOOK_SECRET) {
  console.error('Set DATABASE_URL and CAMPAIGN_WEBHOOK_SECRET.')
  process.exit(2)
}

/** A job: a message as JSON. */
interface Message {
  json: string
}
const eventOf = ({ json }: Message): WebhookEvent => JSON.parse(json)

const QUEUE = 'campaign-events'
const FAILED = 'campaign-events-failed'
const pool = new Pool({
  connectionString: DATABASE_URL,
  connectionTimeoutMillis: 5000,
})
pool.on('error', (error) => console.error('idle connection:', error.message))
const store = postgresStore(pool)
const boss = new PgBoss(DATABASE_URL)
boss.on('error', (error) => console.error('queue:', error.message))

// In production, do this in a migration. The lock lets one process at a time
// create the tables.
const setup = await pool.connect()
await setup.query("SELECT pg_advisory_lock(hashtext('campaign-queue'))")
await setup.query(postgresSchema())
await setup.query(`CREATE TABLE IF NOT EXISTS balances (
  user_id text PRIMARY KEY,
  xp numeric NOT NULL
)`)
await boss.start()
await boss.createQueue(FAILED, { retentionSeconds: 30 * 86_400 })
await boss.createQueue(QUEUE, {
  retryLimit: 10,
  retryBackoff: true,
  deadLetter: FAILED,
})
setup.release(true) // the lock ends with its connection

const command = process.argv[2]
if (command === 'failed' || command === 'replay') {
  await (command === 'failed' ? listFailed() : replayFailed())
  await boss.stop({ graceful: false })
  process.exit()
}

const receiver = createWebhookReceiver({
  endpoint: 'campaign-queue',
  secret: CAMPAIGN_WEBHOOK_SECRET,
  store,
  async handle(event, { key }) {
    if (event.kind === 'action_completed' && isTestMessage(event)) {
      console.log(`${event.id}: Test message`)
      if (event.payload.campaign.id === TEST_CAMPAIGN) return
    }
    // Records the message and adds the job in one transaction: each message
    // becomes one job. It carries text, because jsonb refuses some messages.
    const message = { json: JSON.stringify(event) }
    await store.runOnce(key, (tx) =>
      boss.send(QUEUE, message, {
        db: { executeSql: (text, values) => tx.query(text, values) },
      }),
    )
  },
})

// The queue runs a job again when its worker crashes. `runOnce` credits the XP
// of a message once, even after a replay.
async function credit({ id, data }: Job<Message>): Promise<JobResult> {
  const event = eventOf(data)
  try {
    // A required field is missing: after its retries, the job moves to the
    // dead-letter queue.
    if (event.kind === 'unknown' && event.issues.length > 0)
      throw new Error(`unexpected shape: ${JSON.stringify(event.issues)}`)
    if (event.kind === 'action_completed') {
      const { user, event: activity } = event.payload
      await store.runOnce(JSON.stringify(['xp', event.id]), async (tx) => {
        await tx.query(
          `INSERT INTO balances (user_id, xp) VALUES ($1, $2)
           ON CONFLICT (user_id) DO UPDATE SET xp = balances.xp + excluded.xp`,
          [user, activity.data.xp],
        )
      })
      console.log(`${event.id}: credited ${activity.data.xp} XP to ${user}`)
    }
    return { id, status: 'completed' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    console.error(`${event.id}: will be retried: ${message}`)
    return { id, status: 'failed', output: { message } }
  }
}

// By default, pg-boss takes one job every two seconds. These options take 50 at
// a time, and the next 50 at once while there are more.
await boss.work<Message>(
  QUEUE,
  {
    batchSize: 50,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
    perJobResults: true,
  },
  (jobs) => Promise.all(jobs.map(credit)),
)

const server = createServer(receiver.node)
server.listen(Number(PORT), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`listening on http://127.0.0.1:${port}`)
})

process.once('SIGTERM', async () => {
  server.close()
  // Waits until received messages are queued and running jobs have ended.
  await receiver.close()
  await boss.stop()
  server.closeAllConnections()
  await pool.end()
})

/** Prints one line for each message in the dead-letter queue. */
async function listFailed(): Promise<void> {
  const { rows } = await pool.query(
    `SELECT data, source_output AS output, created_on FROM pgboss.job
     WHERE name = $1 AND state = 'created' ORDER BY created_on`,
    [FAILED],
  )
  for (const { data, output, created_on: at } of rows) {
    const event = eventOf(data)
    const error = JSON.stringify(output?.message ?? output)
    console.log(at.toISOString(), event.id, event.kind, error)
  }
  console.log(`${rows.length} failed`)
}

/** Moves all messages of the dead-letter queue back. */
async function replayFailed(): Promise<void> {
  // A job that fails again meanwhile stays.
  const createdBefore = new Date()
  let replayed = 0
  for (;;) {
    const moved = await boss.redrive(FAILED, { createdBefore })
    if (moved === 0) break
    replayed += moved
  }
  console.log(`${replayed} replayed`)
}
