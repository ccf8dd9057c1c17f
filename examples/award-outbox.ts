/**
 * Commits an order and the job that awards its XP in one transaction, with
 * pg-boss in PostgreSQL. Every order gets its award once, even if a process is
 * killed.
 *
 *   DATABASE_URL=postgres://… CAMPAIGN_BASE_URL=… \
 *   CAMPAIGN_ACCESS_TOKEN=… npx tsx examples/award-outbox.ts
 *   curl -d '{"wallet":"0x52908400098527886E0F7030069857D2E4169EE7","xp":50}' \
 *     http://127.0.0.1:3000/orders
 *
 * You can run several of these processes.
 */
import { serve } from '@hono/node-server'
import { CampaignClient } from 'campaign-client'
import { type AwardRow, awardOne, rewardId } from 'campaign-client/bulk'
import {
  postgresLedger,
  postgresLedgerSchema,
} from 'campaign-client/bulk/postgres'
import { nodeTransport } from 'campaign-client/node'
import { Hono } from 'hono'
import { Pool } from 'pg'
import PgBoss from 'pg-boss'

const { DATABASE_URL, CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN } = process.env
const { CAMPAIGN_PID: pid = 'demo', PORT = '3000' } = process.env
if (!DATABASE_URL || !CAMPAIGN_BASE_URL || !CAMPAIGN_ACCESS_TOKEN) {
  console.error('Set DATABASE_URL, CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN.')
  process.exit(2)
}

const QUEUE = 'order-awards'
interface OrderAward {
  order: string
  award: AwardRow
}

const transport = nodeTransport()
const client = new CampaignClient({
  baseUrl: CAMPAIGN_BASE_URL,
  accessToken: CAMPAIGN_ACCESS_TOKEN,
  transport,
})
const pool = new Pool({ connectionString: DATABASE_URL })
pool.on('error', (error) => console.error('idle connection:', error.message))
const ledger = postgresLedger(pool, { run: 'orders' })
const boss = new PgBoss(DATABASE_URL)
boss.on('error', (error) => console.error('queue:', error.message))

// In production, do this in a migration. The lock lets one process at a time
// create the tables.
const setup = await pool.connect()
await setup.query("SELECT pg_advisory_lock(hashtext('award-outbox'))")
await setup.query(postgresLedgerSchema())
await setup.query(`CREATE TABLE IF NOT EXISTS orders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wallet text NOT NULL,
  xp float8 NOT NULL,
  verdict text
)`)
await boss.start()
// A job of a killed process starts again after two minutes.
await boss.createQueue(QUEUE, {
  name: QUEUE,
  retryLimit: 100,
  retryDelay: 1,
  expireInSeconds: 120,
})
setup.release(true) // the lock ends with its connection

/** Stores the order and the job of its award in one transaction. */
async function placeOrder(wallet: string, xp: number): Promise<string> {
  const tx = await pool.connect()
  try {
    await tx.query('BEGIN')
    const { rows } = await tx.query(
      'INSERT INTO orders (wallet, xp) VALUES ($1, $2) RETURNING id',
      [wallet, xp],
    )
    const order = String(rows[0].id)
    const id = rewardId({ pid, address: wallet, reason: `order ${order}` })
    const job: OrderAward = { order, award: { address: wallet, pid, id, xp } }
    await boss.send(QUEUE, job, {
      db: { executeSql: (text, values) => tx.query(text, values) },
    })
    await tx.query('COMMIT')
    tx.release()
    return order
  } catch (error) {
    tx.release(true) // closing the connection rolls back
    throw error
  }
}

// A job may run twice, even at the same time. The ledger records every attempt,
// and allows one at a time for each award. pg-boss retries a job that throws.
await boss.work<OrderAward>(
  QUEUE,
  { pollingIntervalSeconds: 0.5 },
  async ([job]) => {
    if (job === undefined) return
    const { order, award } = job.data
    const verdict = await awardOne(client, award, { ledger })
    await pool.query('UPDATE orders SET verdict = $2 WHERE id = $1', [
      order,
      verdict,
    ])
    console.log(`order ${order}: ${verdict}`)
  },
)

const app = new Hono()
app.post('/orders', async (c) => {
  const { wallet, xp } = await c.req.json()
  if (!/^0x[0-9a-fA-F]{40}$/.test(wallet) || !(xp > 0)) {
    return c.json({ error: 'wallet or xp is wrong' }, 400)
  }
  return c.json({ order: await placeOrder(wallet, xp) }, 201)
})
const server = serve(
  { fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' },
  ({ port }) => console.log(`listening on http://127.0.0.1:${port}`),
)

process.once('SIGTERM', async () => {
  server.close()
  await boss.stop()
  await pool.end()
  transport.close()
})
