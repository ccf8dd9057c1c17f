/**
 * Commits an order and the job that awards its XP in one transaction, with
 * pg-boss in PostgreSQL. Every order gets its award once, even if a process is
 * killed.
 *
 *   npm pkg set type=module
 *   npm install tsx@4 @hono/node-server@2 hono@4 pg@8 pg-boss@12
 *   export DATABASE_URL=postgres://… CAMPAIGN_BASE_URL=… \
 *     CAMPAIGN_ACCESS_TOKEN=…
 *   npx tsx award-outbox.ts
 *   curl -d '{"wallet":"0x52908400098527886E0F7030069857D2E4169EE7","xp":50}' \
 *     http://127.0.0.1:3000/orders
 *
 * You can run several of these processes. After about three days of retries, a
 * job moves to a dead-letter queue. An award that can't succeed moves there at
 * once. List the failed jobs, and replay them when the cause is fixed:
 *
 *   npx tsx award-outbox.ts failed
 *   npx tsx award-outbox.ts replay
 *
 * An award is `unconfirmed` if its response was lost and the user's progress
 * does not list it. List these awards, and ask the service again:
 *
 *   npx tsx award-outbox.ts unconfirmed
 */
import { serve } from '@hono/node-server'
import { CampaignClient, InvalidRequestError } from 'campaign-client'
import { type AwardRow, awardOne, rewardId } from 'campaign-client/bulk'
import {
  postgresLedger,
  postgresLedgerSchema,
} from 'campaign-client/bulk/postgres'
import { nodeTransport } from 'campaign-client/node'
import { Hono } from 'hono'
import { Pool } from 'pg'
import { type Job, type JobResult, PgBoss } from 'pg-boss'

const { DATABASE_URL, CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN } = process.env
const { CAMPAIGN_PID: pid = 'demo', PORT = '3000' } = process.env
if (!DATABASE_URL || !CAMPAIGN_BASE_URL || !CAMPAIGN_ACCESS_TOKEN) {
  console.error('Set DATABASE_URL, CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN.')
  process.exit(2)
}

const QUEUE = 'order-awards'
const FAILED = 'order-awards-failed'
interface OrderAward {
  order: string
  award: AwardRow
}

const transport = nodeTransport()
const client = new CampaignClient({
  baseUrl: CAMPAIGN_BASE_URL,
  accessToken: CAMPAIGN_ACCESS_TOKEN,
  transport,
  // Limits the XP of an award, to catch mistakes.
  guard: { campaigns: [pid], maxXpPerAward: 1000 },
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
await boss.createQueue(FAILED, { retentionSeconds: 90 * 86_400 })
// Retries after 1, 2, 4, … seconds, then every ten minutes, for about three
// days. A job of a killed process starts again after two minutes.
await boss.createQueue(QUEUE, {
  retryLimit: 450,
  retryBackoff: true,
  retryDelay: 1,
  retryDelayMax: 600,
  expireInSeconds: 120,
  deadLetter: FAILED,
})
setup.release(true) // the lock ends with its connection

const command = process.argv[2]
const commands = { failed: listFailed, replay: replayFailed, unconfirmed }
if (command !== undefined && command in commands) {
  await commands[command as keyof typeof commands]()
  await boss.stop({ graceful: false })
  process.exit()
}

/** Stores the order and queues its award in one transaction. */
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
// and allows one at a time for each award.
async function award({ id, data }: Job<OrderAward>): Promise<JobResult> {
  try {
    const verdict = await awardOne(client, data.award, { ledger })
    await pool.query('UPDATE orders SET verdict = $2 WHERE id = $1', [
      data.order,
      verdict,
    ])
    console.log(`order ${data.order}: ${verdict}`)
    if (verdict === 'unconfirmed') {
      const show = 'npx tsx award-outbox.ts unconfirmed'
      console.warn(`order ${data.order} needs a person: run ${show}`)
    }
    return { id, status: 'completed' }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // An invalid award fails in the same way each time. Retry all other errors.
    const isFinal = error instanceof InvalidRequestError
    const next = isFinal ? 'failed' : 'will be retried'
    console.error(`order ${data.order}: ${next}: ${message}`)
    const status = isFinal ? 'deadletter' : 'failed'
    return { id, status, output: { message } }
  }
}

await boss.work<OrderAward>(
  QUEUE,
  {
    batchSize: 10,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
    perJobResults: true,
  },
  (jobs) => Promise.all(jobs.map(award)),
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

/** Prints one line for each order whose award has failed. */
async function listFailed(): Promise<void> {
  const { rows } = await pool.query(
    `SELECT data->>'order' AS order, source_output AS output, created_on AS at
     FROM pgboss.job WHERE name = $1 AND state = 'created' ORDER BY created_on`,
    [FAILED],
  )
  for (const { order, output, at } of rows)
    console.log(at.toISOString(), `order ${order}:`, output?.message)
  console.log(`${rows.length} failed`)
}

/** Moves all jobs of the dead-letter queue back. */
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

/** Asks the service again about each unconfirmed award, and prints the rest. */
async function unconfirmed(): Promise<void> {
  const { rows } = await pool.query(
    `SELECT id::text AS order, wallet, xp FROM orders
     WHERE verdict = 'unconfirmed' ORDER BY id`,
  )
  let left = 0
  for (const { order, wallet, xp } of rows) {
    const id = rewardId({ pid, address: wallet, reason: `order ${order}` })
    const award = { address: wallet, pid, id, xp }
    const verdict = await awardOne(client, award, { ledger })
    await pool.query('UPDATE orders SET verdict = $2 WHERE id = $1', [
      order,
      verdict,
    ])
    if (verdict === 'unconfirmed') left++
    console.log(`order ${order}: ${verdict}, ${xp} XP for ${wallet}, id ${id}`)
  }
  console.log(`${left} unconfirmed`)
}
