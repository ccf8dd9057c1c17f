/**
 * A leaderboard in your own database, updated by webhooks, with Hono and
 * PostgreSQL. Webhook messages have no time stamp, may arrive twice and in any
 * order. So the receiver does not add up XP: for each message it reads the
 * user's points again.
 *
 *   npm pkg set type=module
 *   npm install tsx@4 @hono/node-server@2 hono@4 pg@8
 *   export DATABASE_URL=postgres://… CAMPAIGN_WEBHOOK_SECRET=… \
 *     CAMPAIGN_BASE_URL=… CAMPAIGN_ACCESS_TOKEN=…
 *   npx tsx leaderboard-mirror.ts
 *
 * You can run several of these processes. After an outage, or every night, read
 * all points again, because some messages may never have arrived:
 *
 *   npx tsx leaderboard-mirror.ts refresh
 */
import { pathToFileURL } from 'node:url'
import { serve } from '@hono/node-server'
import { CampaignClient } from 'campaign-client'
import { readProgress } from 'campaign-client/bulk'
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

export interface LeaderboardMirror {
  readonly app: Hono
  /** Reads the points of all users again. Returns the errors. */
  refresh(): Promise<Error[]>
}

export function leaderboardMirror(
  options: LeaderboardMirrorOptions,
): LeaderboardMirror {
  const { pool, client, secret, pid, platform } = options

  /** Reads the points of users and stores them. Returns the errors. */
  async function copyPoints(accounts: readonly string[]): Promise<Error[]> {
    // Numbers each reading before it starts. Of two concurrent readings, the
    // one that started later is kept.
    async function* users() {
      for (const account of accounts) {
        const { rows } = await pool.query(
          "SELECT nextval('readings') AS number",
        )
        yield { account, platform, pid, number: rows[0].number }
      }
    }
    const errors: Error[] = []
    for await (const { user, progress, error } of readProgress(
      client,
      users(),
    )) {
      if (error !== undefined) {
        errors.push(error)
        continue
      }
      await pool.query(
        `INSERT INTO leaderboard (account, xp, reading) VALUES ($1, $2, $3)
         ON CONFLICT (account) DO UPDATE
         SET xp = excluded.xp, reading = excluded.reading
         WHERE leaderboard.reading < excluded.reading`,
        [user.account, progress.total, user.number],
      )
    }
    return errors
  }

  const receiver = createWebhookReceiver({
    endpoint: 'leaderboard-mirror',
    secret,
    // Needs no shared store: a duplicate only reads the points again.
    async handle(event) {
      // Here the message's `user` equals the account of the calls. If yours
      // differ, look up the account.
      const { user } = event.payload
      if (typeof user !== 'string') return
      const [error] = await copyPoints([user])
      // The service then sends the message again.
      if (error) throw error
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
  return {
    app,
    async refresh() {
      const { rows } = await pool.query('SELECT account FROM leaderboard')
      return copyPoints(rows.map(({ account }) => account))
    },
  }
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
  const { app, refresh } = leaderboardMirror({
    pool,
    client: new CampaignClient({
      baseUrl: CAMPAIGN_BASE_URL,
      accessToken: CAMPAIGN_ACCESS_TOKEN,
    }),
    secret: CAMPAIGN_WEBHOOK_SECRET,
    pid: CAMPAIGN_PID,
    platform: 'discord',
  })
  if (process.argv[2] === 'refresh') {
    for (const error of await refresh()) console.error(error.message)
    await pool.end()
    return
  }
  serve(
    { fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' },
    ({ port }) => console.log(`listening on http://127.0.0.1:${port}`),
  )
}

const program = process.argv[1] ?? ''
if (import.meta.url === pathToFileURL(program).href) await main()
