/**
 * A webhook receiver that adds messages to a queue and answers at once, and a
 * worker that handles them, with pg-boss in PostgreSQL.
 *
 *   DATABASE_URL=postgres://… CAMPAIGN_WEBHOOK_SECRET=… \
 *     npx tsx examples/webhook-queue.ts
 *
 * You can run several of these processes and stop any of them at any time.
 * After eleven failed attempts a message moves to a dead-letter queue. List the
 * failed messages, and replay them when the worker is fixed:
 *
 *   npx tsx examples/webhook-queue.ts failed
 *   npx tsx examples/webhook-queue.ts replay
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createWebhookReceiver,
  type WebhookEvent,
} from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool } from 'pg'
import PgBoss from 'pg-boss'

const { DATABASE_URL, CAMPAIGN_WEBHOOK_SECRET, PORT = '3000' } = process.env
if (!DATABASE_URL || !CAMPAIGN_WEBHOOK_SECRET) {
  console.error('Set DATABASE_URL and CAMPAIGN_WEBHOOK_SECRET.')
  process.exit(2)
}

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
await boss.createQueue(FAILED, { name: FAILED, retentionDays: 30 })
await boss.createQueue(QUEUE, {
  name: QUEUE,
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
    // Records the message and adds the job in one transaction: each message
    // becomes one job.
    await store.runOnce(key, (tx) =>
      boss.send(QUEUE, event, {
        db: { executeSql: (text, values) => tx.query(text, values) },
      }),
    )
  },
})

// The queue runs a job again when its worker crashes. `runOnce` books the XP of
// a message once, also after a replay.
await boss.work<WebhookEvent>(QUEUE, async (jobs) => {
  for (const { data: event } of jobs) {
    if (event.kind !== 'action_completed') continue
    const { user, event: activity } = event.payload
    await store.runOnce(JSON.stringify(['booked', event.id]), async (tx) => {
      await tx.query(
        `INSERT INTO balances (user_id, xp) VALUES ($1, $2)
         ON CONFLICT (user_id) DO UPDATE SET xp = balances.xp + excluded.xp`,
        [user, activity.data.xp],
      )
    })
    console.log(`${event.id}: booked ${activity.data.xp} XP for ${user}`)
  }
})

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
    `SELECT data, output, created_on FROM pgboss.job
     WHERE name = $1 AND state = 'created' ORDER BY created_on`,
    [FAILED],
  )
  for (const { data: event, output, created_on: at } of rows) {
    const error = JSON.stringify(output?.message ?? output)
    console.log(at.toISOString(), event.id, event.kind, error)
  }
  console.log(`${rows.length} failed`)
}

/** Moves all messages of the dead-letter queue back, in one transaction. */
async function replayFailed(): Promise<void> {
  const tx = await pool.connect()
  const db: PgBoss.Db = {
    executeSql: (text, values) => tx.query(text, values),
  }
  let replayed = 0
  await tx.query('BEGIN')
  for (;;) {
    const jobs = await boss.fetch<WebhookEvent>(FAILED, { batchSize: 100, db })
    if (jobs.length === 0) break
    for (const { id, data: event } of jobs) {
      await boss.send(QUEUE, event, { db })
      await boss.complete(FAILED, id, {}, { db })
      replayed++
    }
  }
  await tx.query('COMMIT')
  console.log(`${replayed} replayed`)
}
