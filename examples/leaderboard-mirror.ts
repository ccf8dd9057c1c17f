/**
 * A leaderboard in your own database, updated by webhooks, with Hono and
 * PostgreSQL. Webhook messages have no time stamp, may arrive twice and in any
 * order. So the receiver does not add up XP: for each message it reads the
 * user's points again.
 *
 *   DATABASE_URL=postgres://… CAMPAIGN_WEBHOOK_SECRET=… \
 *   CAMPAIGN_BASE_URL=… CAMPAIGN_ACCESS_TOKEN=… \
 *     npx tsx examples/leaderboard-mirror.ts
 *
 * You can run several of these processes.
 */
import { pathToFileURL } from 'node:url'
import { serve } from '@hono/node-server'
import { CampaignClient } from 'campaign-client'
import { createWebhookReceiver } from 'campaign-client/webhook'
import { Hono } from 'hono'
import { Pool } from 'pg'

export const schema = `
  CREATE SEQUENCE IF NOT EXISTS readings;
  CREATE TABLE IF NOT EXISTS leaderboard (
    account text PRIMARY KEY,
    xp float8 NOT NULL,
    reading bigint NOT NULL
  )`

export interface LeaderboardMirrorOptions {
  pool: Pool
  client: Pick<CampaignClient, 'getUserProgress'>
  secret: string
  pid: string
  platform: string
}

export function leaderboardMirror(options: LeaderboardMirrorOptions): Hono {
  const { pool, client, secret, pid, platform } = options

  /** Reads a user's points and stores them. */
  async function copyPoints(account: string): Promise<void> {
    // Numbers each reading before it starts. Of two concurrent readings, the
    // later one is kept, whichever ends first.
    const { rows } = await pool.query("SELECT nextval('readings') AS reading")
    const { total } = await client.getUserProgress({ account, platform, pid })
    await pool.query(
      `INSERT INTO leaderboard (account, xp, reading) VALUES ($1, $2, $3)
       ON CONFLICT (account) DO UPDATE
       SET xp = excluded.xp, reading = excluded.reading
       WHERE leaderboard.reading < excluded.reading`,
      [account, total, rows[0].reading],
    )
  }

  const receiver = createWebhookReceiver({
    endpoint: 'leaderboard-mirror',
    secret,
    // Needs no shared store: a duplicate only reads the points again.
    async handle(event) {
      // Here the message's `user` equals the account of the calls. If yours
      // differ, look up the account.
      const { user } = event.payload
      // If this call fails, the service sends the message again.
      if (typeof user === 'string') await copyPoints(user)
    },
  })

  const app = new Hono()
  app.post('/webhooks/campaign', (c) => receiver.fetch(c.req.raw))
  app.get('/leaderboard', async (c) => {
    const { rows } = await pool.query(
      `SELECT account, xp, rank() OVER (ORDER BY xp DESC)::int AS rank
       FROM leaderboard ORDER BY xp DESC, account LIMIT 100`,
    )
    return c.json(rows)
  })
  return app
}

async function main(): Promise<void> {
  const { DATABASE_URL, CAMPAIGN_WEBHOOK_SECRET } = process.env
  const { CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN } = process.env
  const { CAMPAIGN_PID = 'demo', PORT = '3000' } = process.env
  if (
    !DATABASE_URL ||
    !CAMPAIGN_WEBHOOK_SECRET ||
    !CAMPAIGN_BASE_URL ||
    !CAMPAIGN_ACCESS_TOKEN
  ) {
    console.error(
      'Set DATABASE_URL, CAMPAIGN_WEBHOOK_SECRET, CAMPAIGN_BASE_URL ' +
        'and CAMPAIGN_ACCESS_TOKEN.',
    )
    process.exit(2)
  }
  const pool = new Pool({ connectionString: DATABASE_URL })
  pool.on('error', (error) => console.error('idle connection:', error.message))
  await pool.query(schema)
  const app = leaderboardMirror({
    pool,
    client: new CampaignClient({
      baseUrl: CAMPAIGN_BASE_URL,
      accessToken: CAMPAIGN_ACCESS_TOKEN,
    }),
    secret: CAMPAIGN_WEBHOOK_SECRET,
    pid: CAMPAIGN_PID,
    platform: 'discord',
  })
  serve(
    { fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' },
    ({ port }) => console.log(`listening on http://127.0.0.1:${port}`),
  )
}

const program = process.argv[1] ?? ''
if (import.meta.url === pathToFileURL(program).href) await main()
