import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createCampaignService } from 'campaign-client/testing'
import { Pool } from 'pg'
import { PgBoss } from 'pg-boss'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ownDatabase } from '../databases/own-database.ts'
import { postgres } from '../databases/postgres.ts'
import { compiled } from '../support/compiled.ts'
import { type RunningExample, startExample } from '../support/running-example.ts'
import { skipsWithout } from '../support/skips-without.ts'

const pathOf = compiled('examples/award-outbox.ts')

const environment = (databaseUrl: string, baseUrl: string): NodeJS.ProcessEnv => ({
  ...process.env,
  DATABASE_URL: databaseUrl,
  CAMPAIGN_BASE_URL: baseUrl,
  CAMPAIGN_ACCESS_TOKEN: 'any',
  PORT: '0',
})

const start = (databaseUrl: string, baseUrl: string): Promise<RunningExample> =>
  startExample(pathOf('examples/award-outbox.ts'), environment(databaseUrl, baseUrl))

/** Creates an empty database, and starts a service. */
async function setUp() {
  const database = await postgres.start()
  onTestFinished(() => database.stop())
  const databaseUrl = await ownDatabase(database)
  const pool = new Pool({ connectionString: databaseUrl, max: 2 })
  onTestFinished(() => pool.end())
  const service = createCampaignService()
  const server = await service.listen()
  onTestFinished(() => server.close())
  return { databaseUrl, pool, service, server }
}

const wallet = (number: number) => `0x${number.toString(16).padStart(40, '0')}`

/** Ends the waits of the queue and of the leases. */
async function endWaits(pool: Pool, boss: PgBoss): Promise<void> {
  await pool.query(`UPDATE pgboss.job SET started_on = started_on - interval '1 hour' WHERE state = 'active'`)
  await pool.query(`UPDATE pgboss.job SET start_after = now() WHERE state = 'retry'`)
  await pool.query('UPDATE campaign_awards SET lease_until = clock_timestamp() WHERE attempt IS NOT NULL')
  await boss.supervise()
}

describe.skipIf(skipsWithout(postgres.name, postgres.missing))('award-outbox', () => {
  test('makes one award for every order, even if the process is killed', async () => {
    const { databaseUrl, pool, service, server } = await setUp()

    let kill: () => void = () => undefined
    let pointsUntilKill = Number.POSITIVE_INFINITY
    /** Runs at each critical point. Kills the process at one of these points. */
    const reachPoint = () => {
      if (--pointsUntilKill === 0) kill()
    }
    // A critical point: the service has made an award, but has not sent the response.
    service.subscribe((event) => {
      if (event.kind === 'request_answered') reachPoint()
    })
    let orders = 0
    const placed: string[] = []
    const place = async (url: string) => {
      const body = JSON.stringify({ wallet: wallet(++orders), xp: orders })
      const placing = fetch(`${url}/orders`, { method: 'POST', body })
      reachPoint()
      const response = await placing.catch(() => undefined)
      if (response === undefined) return
      expect(response.status).toBe(201)
      placed.push(((await response.json()) as { order: string }).order)
      reachPoint()
    }

    for (let round = 0; round < 4; round++) {
      const running = await start(databaseUrl, server.url)
      pointsUntilKill = 1 + Math.floor(Math.random() * 24)
      kill = () => running.process.kill('SIGKILL')
      await Promise.all(Array.from({ length: 8 }, () => place(running.url)))
      // Rarely, the round ends before the process is killed.
      if (pointsUntilKill > 0) kill()
      expect(await running.ended).toBe('SIGKILL')
      pointsUntilKill = Number.POSITIVE_INFINITY
    }

    const last = await start(databaseUrl, server.url)
    await place(last.url)
    const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false })
    boss.on('error', () => undefined)
    await boss.start()
    onTestFinished(() => boss.stop({ graceful: false }))
    const committed = async () => {
      await endWaits(pool, boss)
      return (await pool.query('SELECT id::text, wallet, xp, verdict FROM orders ORDER BY id')).rows
    }
    await expect.poll(async () => (await committed()).filter(({ verdict }) => verdict === null)).toEqual([])
    last.process.kill('SIGTERM')
    expect(await last.ended).toBe(0)

    const rows = await committed()
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(placed))
    const awarded = service.state.awards.map(({ address, xp }) => `${address} ${xp}`).sort()
    expect(awarded).toEqual(rows.map(({ wallet, xp }) => `${wallet} ${xp}`).sort())
    const totals = service.state.entries.filter(({ account }) => account.startsWith('0x')).map(({ xp }) => xp)
    expect(totals.sort((a, b) => a - b)).toEqual(rows.map(({ xp }) => xp).sort((a, b) => a - b))
  })

  test('retries for days, logs each failure, and keeps awards that cannot succeed', async () => {
    const { databaseUrl, pool, service, server } = await setUp()
    const run = async (command: string) => {
      const { stdout } = await promisify(execFile)(process.execPath, [pathOf('examples/award-outbox.ts'), command], {
        env: environment(databaseUrl, server.url),
      })
      return stdout.trim().split('\n')
    }
    const running = await start(databaseUrl, server.url)
    const place = async (xp: number) => {
      const body = JSON.stringify({ wallet: wallet(xp), xp })
      const response = await fetch(`${running.url}/orders`, { method: 'POST', body })
      return ((await response.json()) as { order: string }).order
    }

    service.fail({ on: 'rewardWallet', kind: 'status', status: 401 })
    const retried = await place(50)
    await expect.poll(() => running.lines).toContain(`order ${retried}: awarded`)
    await expect
      .poll(() => running.errors)
      .toContainEqual(expect.stringMatching(`^order ${retried}: will be retried: awardOne: .*HTTP 401`))
    // The guard of the example forbids 5 000 XP. A retry would fail in the same way.
    const failed = await place(5_000)
    const message = expect.stringMatching(/awardOne: xp .* maxXpPerAward/)
    await expect.poll(async () => (await run('failed')).at(-1)).toBe('1 failed')
    await expect
      .poll(() => running.errors)
      .toContainEqual(expect.stringMatching(`^order ${failed}: failed: awardOne: xp .*maxXpPerAward`))
    expect((await run('failed'))[0]).toEqual(message)
    expect((await run('failed'))[0]).toContain(`order ${failed}:`)
    expect(await run('replay')).toEqual(['1 replayed'])

    const { rows } = await pool.query(
      "SELECT retry_limit, retry_delay_max FROM pgboss.queue WHERE name = 'order-awards'",
    )
    const { retry_limit: retries, retry_delay_max: maxDelaySeconds } = rows[0]
    expect(retries * maxDelaySeconds).toBeGreaterThan(2 * 86_400)
    running.process.kill('SIGTERM')
    expect(await running.ended).toBe(0)
    expect(service.state.awards.map(({ xp }) => xp)).toEqual([50])
  })

  test('tells a person once about an award that nobody could confirm', async () => {
    const { databaseUrl, pool, service, server } = await setUp()
    const running = await start(databaseUrl, server.url)
    const listUnconfirmed = async () => {
      const args = [pathOf('examples/award-outbox.ts'), 'unconfirmed']
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        env: environment(databaseUrl, server.url),
      })
      return stdout.trim().split('\n')
    }
    const place = async (xp: number) => {
      await fetch(`${running.url}/orders`, { method: 'POST', body: JSON.stringify({ wallet: wallet(xp), xp }) })
    }
    const verdictOf = async (xp: number) =>
      (await pool.query('SELECT verdict FROM orders WHERE xp = $1', [xp])).rows[0]?.verdict

    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    await place(50)
    await expect.poll(() => verdictOf(50)).toBe('alreadyAwarded')

    const outage = service.fail({ on: 'getUserProgress', kind: 'status', status: 503, times: Infinity })
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    await place(60)
    await expect.poll(() => verdictOf(60)).toBe('unconfirmed')
    // The program records the verdict before it writes the line.
    const linesForPeople = () => running.errors.filter((line) => line.includes('needs a person'))
    await expect.poll(linesForPeople).toEqual(['order 2 needs a person: run npx tsx award-outbox.ts unconfirmed'])
    expect((await listUnconfirmed()).at(-1)).toBe('1 unconfirmed')
    outage.cancel()
    expect(await listUnconfirmed()).toEqual([
      expect.stringMatching(`^order 2: alreadyAwarded, 60 XP for ${wallet(60)}, id `),
      '0 unconfirmed',
    ])
    expect(await verdictOf(60)).toBe('alreadyAwarded')
    running.process.kill('SIGTERM')
    expect(await running.ended).toBe(0)
    expect(linesForPeople()).toHaveLength(1)
    expect(service.state.awards.map(({ xp }) => xp)).toEqual([50, 60])
  })
})
