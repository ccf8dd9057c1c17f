/**
 * A webhook receiver that puts its messages into a queue and answers at once,
 * and the worker that does the work, with pg-boss in PostgreSQL.
 *
 *   DATABASE_URL=postgres://… CAMPAIGN_WEBHOOK_SECRET=… \
 *     npx tsx examples/webhook-queue.ts
 *
 * Any number of these processes can run side by side, and any of them can be
 * killed at any moment. A message whose work has failed eleven times goes to a
 * dead-letter queue. List those messages, and replay them when the worker is
 * mended:
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

// In production this belongs into a migration.
// Here a lock lets one process at a time do it.
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
    // The job and the record that the message has arrived are committed
    // together: one message, one job.
    await store.runOnce(key, (tx) =>
      boss.send(QUEUE, event, {
        db: { executeSql: (text, values) => tx.query(text, values) },
      }),
    )
  },
})

// A queue runs a job again when its worker has died, so the work is done under
// a key as well. This also makes it safe to replay a message.
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
  // Messages that have arrived are queued, and running jobs end.
  await receiver.close()
  await boss.stop()
  server.closeAllConnections()
  await pool.end()
})

/** Prints the messages of the dead-letter queue, one line each. */
async function listFailed(): Promise<void> {
  const { rows } = await pool.query(
    `SELECT data, output, created_on FROM pgboss.job
     WHERE name = $1 AND state = 'created' ORDER BY created_on`,
    [FAILED],
  )
  for (const { data: event, output, created_on: at } of rows) {
    const why = JSON.stringify(output?.message ?? output)
    console.log(at.toISOString(), event.id, event.kind, why)
  }
  console.log(`${rows.length} failed`)
}

/** Moves the messages of the dead-letter queue back, all or none. */
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
