/**
 * A webhook receiver for one machine that adds the XP of every completed task
 * to a balance in SQLite, exactly once.
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   CAMPAIGN_WEBHOOK_SECRET=… npx tsx webhook-sqlite.ts
 *
 * You can run several of these processes on the machine and stop any of them
 * at any time: the new balance and the record of the message are committed in
 * one transaction. Needs only the package campaign-client.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { createWebhookReceiver } from 'campaign-client/webhook'
import { sqliteSchema, sqliteStore } from 'campaign-client/webhook/sqlite'

const { CAMPAIGN_WEBHOOK_SECRET, PORT = '3000' } = process.env
const { DATABASE_FILE = 'webhooks.db' } = process.env
if (!CAMPAIGN_WEBHOOK_SECRET) {
  console.error('Set CAMPAIGN_WEBHOOK_SECRET.')
  process.exit(2)
}

const database = new DatabaseSync(DATABASE_FILE)
database.exec(`
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  BEGIN IMMEDIATE;
  ${sqliteSchema()}
  CREATE TABLE IF NOT EXISTS balances (
    user_id TEXT PRIMARY KEY,
    xp REAL NOT NULL
  ) STRICT;
  COMMIT;
`)
const store = sqliteStore(database)

const receiver = createWebhookReceiver({
  endpoint: 'campaign-xp',
  secret: CAMPAIGN_WEBHOOK_SECRET,
  store,
  async handle(event, { key }) {
    if (event.kind !== 'action_completed') return
    const { user, event: activity } = event.payload
    // The function must be synchronous: all code shares one connection.
    const { ran } = await store.runOnce(key, (db) => {
      db.prepare(
        `INSERT INTO balances (user_id, xp) VALUES (?, ?)
         ON CONFLICT (user_id) DO UPDATE SET xp = xp + excluded.xp`,
      ).run(user, activity.data.xp)
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
  database.close()
})
