/**
 * A webhook receiver that books the XP of every completed task exactly once, in
 * PostgreSQL.
 *
 *   DATABASE_URL=postgres://… CAMPAIGN_WEBHOOK_SECRET=… \
 *     npx tsx examples/webhook-postgres.ts
 *
 * Any number of these processes can run side by side, and any of them can be
 * killed at any moment: the booking and the note that it was made are committed
 * together.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWebhookReceiver } from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool } from 'pg'

const { DATABASE_URL, CAMPAIGN_WEBHOOK_SECRET, PORT = '3000' } = process.env
if (!DATABASE_URL || !CAMPAIGN_WEBHOOK_SECRET) {
  console.error('Set DATABASE_URL and CAMPAIGN_WEBHOOK_SECRET.')
  process.exit(2)
}

const pool = new Pool({
  connectionString: DATABASE_URL,
  connectionTimeoutMillis: 5000,
  // A process that hangs in the middle of a booking gives it up, so that the
  // next attempt need not wait for ever.
  idle_in_transaction_session_timeout: 60_000,
})
// Without a listener Node ends the process when an idle connection is lost.
pool.on('error', (error) =>
  console.error('lost an idle connection:', error.message),
)

// In production this belongs into a migration.
await pool.query(postgresSchema())
await pool.query(`DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('balances'));
  CREATE TABLE IF NOT EXISTS balances (
    user_id text PRIMARY KEY,
    xp numeric NOT NULL
  );
END $$`)

const store = postgresStore(pool)

const receiver = createWebhookReceiver({
  endpoint: 'campaign-xp',
  secret: CAMPAIGN_WEBHOOK_SECRET,
  store,
  async handle(event, { key }) {
    if (event.kind !== 'action_completed') return
    const { user, event: activity } = event.payload
    const booking = await store.runOnce(key, async (tx) => {
      await tx.query(
        `INSERT INTO balances (user_id, xp) VALUES ($1, $2)
         ON CONFLICT (user_id) DO UPDATE SET xp = balances.xp + excluded.xp`,
        [user, activity.data.xp],
      )
    })
    console.log(
      booking.ran
        ? `${event.id}: booked ${activity.data.xp} XP for ${user}`
        : `${event.id}: booked before`,
    )
  },
})

const server = createServer(receiver.node)
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(
    `listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  )
})

// What has expired is deleted from time to time, in steps of a thousand rows.
const pruning = setInterval(
  async () => {
    try {
      while ((await store.prune(1000)) === 1000);
    } catch (error) {
      console.error('could not prune:', error)
    }
  },
  60 * 60 * 1000,
)

process.once('SIGTERM', async () => {
  clearInterval(pruning)
  server.close()
  await receiver.close()
  server.closeAllConnections()
  await pool.end()
})
