/**
 * A webhook receiver that hands its messages to a queue and answers at once, and the worker that does the work, with
 * pg-boss in PostgreSQL.
 *
 *   DATABASE_URL=postgres://… CAMPAIGN_WEBHOOK_SECRET=… npx tsx examples/webhook-queue.ts
 *
 * Any number of these processes can run side by side, and any of them can be killed at any moment.
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
const pool = new Pool({
  connectionString: DATABASE_URL,
  connectionTimeoutMillis: 5000,
})
pool.on('error', (error) =>
  console.error('lost an idle connection:', error.message),
)
const store = postgresStore(pool)
const boss = new PgBoss(DATABASE_URL)
boss.on('error', (error) => console.error('the queue:', error.message))

// In production these belong into a migration. Here one process at a time makes them.
const setup = await pool.connect()
await setup.query("SELECT pg_advisory_lock(hashtext('campaign-queue'))")
await setup.query(postgresSchema())
await setup.query(
  'CREATE TABLE IF NOT EXISTS balances (user_id text PRIMARY KEY, xp numeric NOT NULL)',
)
await boss.start()
await boss.createQueue(QUEUE)
setup.release(true) // the lock ends with its connection

const receiver = createWebhookReceiver({
  endpoint: 'campaign-queue',
  secret: CAMPAIGN_WEBHOOK_SECRET,
  store,
  async handle(event, { key }) {
    // The job and the note that the message was taken are committed together: one message, one job.
    await store.runOnce(key, (tx) =>
      boss.send(QUEUE, event, {
        retryLimit: 10,
        retryBackoff: true,
        db: { executeSql: (text, values) => tx.query(text, values) },
      }),
    )
  },
})

// A queue gives a job out again when its worker died, so the work is done under a key as well.
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
  console.log(
    `listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  )
})

process.once('SIGTERM', async () => {
  server.close()
  // Messages that were taken are handed over, jobs that have begun end, and the rest waits in the queue.
  await receiver.close()
  await boss.stop()
  server.closeAllConnections()
  await pool.end()
})
