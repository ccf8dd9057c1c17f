/**
 * A webhook receiver that adds the XP of every completed task to a balance in
 * PostgreSQL, exactly once.
 *
 *   npm pkg set type=module
 *   npm install tsx@4 pg@8
 *   DATABASE_URL=postgres://… CAMPAIGN_WEBHOOK_SECRET=… \
 *     npx tsx webhook-postgres.ts
 *
 * Set TEST_CAMPAIGN to the id of your test campaign, if you have one. The
 * messages of the panel's Test button then credit nothing there.
 *
 * You can run several of these processes and stop any of them at any time: the
 * new balance and the record of the message are committed in one transaction.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWebhookReceiver, isTestMessage } from 'campaign-client/webhook'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool } from 'pg'

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

const pool = new Pool({
  connectionString: DATABASE_URL,
  connectionTimeoutMillis: 5000,
  query_timeout: 10_000,
})
// Without this listener, a lost connection ends the process.
pool.on('error', (error) =>
  console.error('lost an idle connection:', error.message),
)

// In production, do this in a migration.
await pool.query(postgresSchema())
await pool.query(`DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('balances'));
  CREATE TABLE IF NOT EXISTS balances (
    user_id text PRIMARY KEY,
    xp numeric NOT NULL
  );
  CREATE TABLE IF NOT EXISTS unread_messages (
    id text PRIMARY KEY,
    body bytea NOT NULL
  );
END $$`)

const store = postgresStore(pool)

const receiver = createWebhookReceiver({
  endpoint: 'campaign-xp',
  secret: CAMPAIGN_WEBHOOK_SECRET,
  store,
  async handle(event, { key, rawBody }) {
    if (event.kind === 'unknown' && event.issues.length > 0) {
      // A required field is missing: keep the message for a later version.
      await pool.query(
        `INSERT INTO unread_messages (id, body) VALUES ($1, $2)
         ON CONFLICT (id) DO NOTHING`,
        [event.id, rawBody],
      )
    }
    if (event.kind !== 'action_completed') return
    const { user, campaign, event: activity } = event.payload
    if (isTestMessage(event)) {
      console.log(`${event.id}: Test message`)
      if (campaign.id === TEST_CAMPAIGN) return
    }
    const { ran } = await store.runOnce(key, async (tx) => {
      await tx.query(
        `INSERT INTO balances (user_id, xp) VALUES ($1, $2)
         ON CONFLICT (user_id) DO UPDATE SET xp = balances.xp + excluded.xp`,
        [user, activity.data.xp],
      )
    })
    console.log(
      ran
        ? `${event.id}: credited ${activity.data.xp} XP to ${user}`
        : `${event.id}: already credited`,
    )
  },
})

const server = createServer(receiver.node)
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(
    `listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  )
})

// Deletes expired records every hour, 1 000 rows at a time.
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
