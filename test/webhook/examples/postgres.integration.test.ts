import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { signWebhook } from 'campaign-client/webhook'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ownDatabase } from '../../databases/own-database.ts'
import { postgres } from '../../databases/postgres.ts'
import { compiled } from '../../support/compiled.ts'
import { type RunningExample, startExample } from '../../support/running-example.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { exampleActivity } from '../activity.ts'

const secret = randomUUID()

const pathOf = compiled('examples/webhook-postgres.ts', 'examples/webhook-queue.ts')

const start = (name: string, databaseUrl: string): Promise<RunningExample> =>
  startExample(pathOf(`examples/${name}.ts`), {
    DATABASE_URL: databaseUrl,
    CAMPAIGN_WEBHOOK_SECRET: secret,
    TEST_CAMPAIGN: 'test-campaign',
  })

/** Creates a database. Returns its URL, and a pool. */
async function openDatabase(): Promise<{ readonly databaseUrl: string; readonly pool: Pool }> {
  const service = await postgres.start()
  onTestFinished(() => service.stop())
  const databaseUrl = await ownDatabase(service)
  const pool = new Pool({ connectionString: databaseUrl, max: 2 })
  onTestFinished(() => pool.end())
  return { databaseUrl, pool }
}

/** Ends a process with SIGTERM. Returns its exit code and its signal. */
async function terminate({ process }: RunningExample): Promise<unknown[]> {
  const exited = once(process, 'exit')
  process.kill('SIGTERM')
  return exited
}

async function deliver(url: string, user: string, id: string, fields: object = {}): Promise<number> {
  const body = JSON.stringify(exampleActivity({ id, user, ...fields }))
  const headers = { 'content-type': 'application/json', 'x-service-signature': signWebhook(secret, body) }
  return (await fetch(url, { method: 'POST', body, headers })).status
}

const skipped = skipsWithout(postgres.name, postgres.missing)

describe.skipIf(skipped).each(['webhook-postgres', 'webhook-queue'])('examples/%s.ts', (name) => {
  test('records each message once in two processes, and ends on SIGTERM', async () => {
    const { databaseUrl: url, pool } = await openDatabase()
    const [first, second] = await Promise.all([start(name, url), start(name, url)])

    const user = randomUUID()
    const ids = Array.from({ length: 10 }, () => randomUUID())
    const attempts = [...ids, ...ids].map((id, i) => deliver((i % 2 === 0 ? first : second).url, user, id))
    const statuses = await Promise.all(attempts)
    for (const status of statuses) expect([200, 500, 503]).toContain(status)
    // On a busy machine, the database may respond too late. No other error causes a 500.
    const errors = () => [...first.errors, ...second.errors].join('\n')
    if (statuses.includes(500)) await expect.poll(errors).toMatch(/did not respond within|timeout/)
    for (const id of ids) await expect.poll(() => deliver(first.url, user, id)).toBe(200)

    const balances = async () =>
      (await pool.query('SELECT xp::float8 AS xp FROM balances WHERE user_id = $1', [user])).rows
    await expect.poll(balances).toEqual([{ xp: 100 }])
    const duplicates = await Promise.all(ids.map((id) => deliver(second.url, user, id)))
    expect(new Set(duplicates)).toEqual(new Set([200]))
    for (const running of [first, second]) expect(await terminate(running)).toEqual([0, null])
    expect(await balances()).toEqual([{ xp: 100 }])
  })

  test('credits no XP of a Test message in the test campaign', async () => {
    const { databaseUrl, pool } = await openDatabase()
    const running = await start(name, databaseUrl)
    const { url } = running
    const user = randomUUID()
    const action = { id: 'a-1', name: 'Follow', type: 'social', meta: null }
    const event = { type: 'action_completed', data: { action, account: user, xp: 1000 } }
    const testMessage = { user_id: user, event, campaign: { id: 'test-campaign', name: 'Test' } }
    expect(await deliver(url, user, randomUUID(), testMessage)).toBe(200)
    expect(await deliver(url, user, randomUUID())).toBe(200)
    const balances = async () =>
      (await pool.query('SELECT xp::float8 AS xp FROM balances WHERE user_id = $1', [user])).rows
    await expect.poll(balances).toEqual([{ xp: 10 }])
    await terminate(running)
    expect(await balances()).toEqual([{ xp: 10 }])
  })
})

describe.skipIf(skipped)('examples/webhook-postgres.ts', () => {
  test('stores the bytes of a message that lacks a required field', async () => {
    const { databaseUrl, pool } = await openDatabase()
    const { url } = await start('webhook-postgres', databaseUrl)
    const id = randomUUID()
    expect(await deliver(url, 'ada', id, { campaign: null })).toBe(200)
    const { rows } = await pool.query('SELECT body FROM unread_messages WHERE id = $1', [id])
    expect(JSON.parse(String(rows[0]?.body))).toMatchObject({ id, user: 'ada', campaign: null })
  })
})

describe.skipIf(skipped)('examples/webhook-queue.ts', () => {
  test('queues and credits a message with text that jsonb refuses', async () => {
    const { databaseUrl, pool } = await openDatabase()
    const { url } = await start('webhook-queue', databaseUrl)
    const user = randomUUID()
    for (const text of ['\ud83d', '\0']) expect(await deliver(url, user, `${randomUUID()}${text}`, { text })).toBe(200)
    const balance = async () => (await pool.query('SELECT user_id, xp::float8 AS xp FROM balances')).rows
    await expect.poll(balance).toEqual([{ user_id: user, xp: 20 }])
  })

  test('a message whose user ID PostgreSQL refuses fails alone', async () => {
    const { databaseUrl, pool } = await openDatabase()
    const { url } = await start('webhook-queue', databaseUrl)
    const user = randomUUID()
    expect(await deliver(url, '\0', randomUUID())).toBe(200)
    expect(await deliver(url, user, randomUUID())).toBe(200)
    const jobs = async () =>
      (
        await pool.query(
          `SELECT state::text FROM pgboss.job WHERE name = 'campaign-events'
           AND (state = 'completed' OR output IS NOT NULL) ORDER BY created_on`,
        )
      ).rows
    await expect.poll(jobs).toEqual([{ state: 'retry' }, { state: 'completed' }])
    expect((await pool.query('SELECT user_id FROM balances')).rows).toEqual([{ user_id: user }])
  })

  test('stores messages whose work fails, lists them, and replays each once', async () => {
    const { databaseUrl, pool } = await openDatabase()
    const run = async (command: string) => {
      const { stdout } = await promisify(execFile)(process.execPath, [pathOf('examples/webhook-queue.ts'), command], {
        env: { ...process.env, DATABASE_URL: databaseUrl, CAMPAIGN_WEBHOOK_SECRET: secret },
      })
      return stdout.trim().split('\n')
    }
    const running = await start('webhook-queue', databaseUrl)
    await pool.query('ALTER TABLE balances RENAME COLUMN xp TO points')
    const user = randomUUID()
    const ids = Array.from({ length: 3 }, () => randomUUID())
    for (const id of ids) expect(await deliver(running.url, user, id, { text: '\ud83d\0' })).toBe(200)
    const failedJobs = async () => {
      // Ten retries take hours, so make the next attempt the last one. Not of an active job: pg-boss could lose its failure.
      await pool.query(
        `UPDATE pgboss.job SET retry_count = retry_limit, start_after = now() - interval '1 minute'
         WHERE name = $1 AND state IN ('created', 'retry')`,
        ['campaign-events'],
      )
      const { rows } = await pool.query(`SELECT id FROM pgboss.job WHERE name = 'campaign-events-failed'`)
      return rows.length
    }
    await expect.poll(failedJobs).toBe(3)

    const lines = await run('failed')
    expect(lines.at(-1)).toBe('3 failed')
    for (const id of ids) {
      expect(lines).toContainEqual(
        expect.stringMatching(new RegExp(`^\\S+Z ${id} action_completed ".*\\bxp\\b.*does not exist`)),
      )
    }
    expect((await pool.query('SELECT * FROM balances')).rows).toEqual([])

    await pool.query('ALTER TABLE balances RENAME COLUMN points TO xp')
    expect(await run('replay')).toEqual(['3 replayed'])
    expect(await run('replay')).toEqual(['0 replayed'])
    const balance = async () => (await pool.query('SELECT user_id, xp::float8 AS xp FROM balances')).rows
    await expect.poll(balance).toEqual([{ user_id: user, xp: 30 }])
    expect(await run('failed')).toEqual(['0 failed'])
    expect(await terminate(running)).toEqual([0, null])
  })
})
