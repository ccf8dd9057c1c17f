import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CampaignClient } from 'campaign-client'
import {
  type CampaignService,
  type CampaignServiceOptions,
  createCampaignService,
  createManualClock,
  demoCampaign,
  type ManualClock,
} from 'campaign-client/testing'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  campaignReceiver,
  createTables,
  findMissedEvents,
  openPool,
  type SearchReport,
} from '../../examples/find-missed-events.ts'
import type { Database } from '../databases/database.ts'
import { ownDatabase } from '../databases/own-database.ts'
import { postgres } from '../databases/postgres.ts'
import { compiled } from '../support/compiled.ts'
import { skipsWithout } from '../support/skips-without.ts'

const HOUR = 3_600_000
const pid = 'demo'
const platform = 'discord'
const secret = 'a-webhook-secret'
const coins: Record<string, number> = { welcome: 50, 'spread-the-word': 50, regular: 100, 'all-rounder': 100 }

/** The database and receiver of a partner, and the local service. */
interface Setup {
  readonly service: CampaignService
  readonly client: CampaignClient
  readonly clock: ManualClock
  readonly pool: Pool
  readonly databaseUrl: string
  /** Whether the receiver is unavailable. */
  down: boolean
  search(): Promise<SearchReport>
  complete(account: string, ...tasks: string[]): Promise<void>
  /** Returns the coins of each member. */
  coins(): Promise<Record<string, number>>
  /** Returns each counted completion with its source: webhook or search. */
  counted(): Promise<string[]>
}

const accounts = (count: number) => Array.from({ length: count }, (_, index) => `user-${index + 10}`)
const memberOf = (account: string) => `member of ${account}`

async function createSetup(postgresServer: Database, users: readonly string[]): Promise<Setup> {
  const databaseUrl = await ownDatabase(postgresServer)
  const pool = openPool(databaseUrl)
  onTestFinished(() => pool.end())
  await createTables(pool)
  const receiver = campaignReceiver(pool, secret)
  onTestFinished(() => receiver.close())
  const clock = createManualClock({ patienceMs: 30_000 })
  const deliver: CampaignServiceOptions['deliver'] = (request) => {
    if (setup.down) throw new Error('connect ECONNREFUSED')
    return receiver.fetch(request)
  }
  const campaign = { ...demoCampaign, users: users.map((account) => ({ account, platform })) }
  const service = createCampaignService({ campaigns: [campaign], clock, deliver })
  service.registerWebhook({ scope: 'user_activity', url: 'https://partner.example/hook', secret })
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'any',
    fetch: service.fetch,
    maxRetries: 0,
  })
  for (const account of users) {
    await pool.query('INSERT INTO members (member_id, account, platform, webhook_user) VALUES ($1, $2, $3, $2)', [
      memberOf(account),
      account,
      platform,
    ])
  }
  const setup: Setup = {
    service,
    client,
    clock,
    pool,
    databaseUrl,
    down: false,
    search: () => findMissedEvents({ pool, client, pid }),
    async complete(account, ...tasks) {
      for (const aid of tasks) {
        const quest = ['share', 'daily-visit'].includes(aid) ? 'spread-the-word' : 'welcome'
        await client.recordActionValue({ account, platform, pid, cid: quest, aid, value: 1 })
      }
    },
    async coins() {
      const { rows } = await pool.query('SELECT member_id, coins FROM members')
      return Object.fromEntries(rows.map((row) => [row.member_id, row.coins]))
    },
    async counted() {
      const { rows } = await pool.query('SELECT member_id, key, found_by FROM completions ORDER BY 1, 2')
      return rows.map((row) => `${row.member_id}: ${row.key} by ${row.found_by}`)
    },
  }
  return setup
}

/** Returns the expected coins of each member. Daily visits count each time, other completions once. */
function expectedCoins({ service }: Setup): Record<string, number> {
  const { entries, values } = service.state
  return Object.fromEntries(
    entries.map(({ account, completed }) => {
      const once = completed.filter((id) => id !== 'daily-visit').reduce((sum, id) => sum + (coins[id] ?? 10), 0)
      const visits = values.filter((value) => value.account === account && value.aid === 'daily-visit').length
      return [memberOf(account), once + visits * 10]
    }),
  )
}

describe.skipIf(skipsWithout(postgres.name, postgres.missing))('find-missed-events', () => {
  let server: Database

  beforeAll(async () => {
    server = await postgres.start()
  })

  afterAll(() => server?.stop())

  test('finds every completion once after the receiver was down for an hour', async () => {
    const setup = await createSetup(server, ['ada', 'grace', 'linus', 'quiet'])
    expect(await setup.search()).toEqual({ read: 4, found: 0, failed: [] })

    await setup.complete('ada', 'connect-wallet', 'follow', 'daily-visit')
    await setup.complete('grace', 'connect-wallet')
    await setup.clock.advance(0)
    const withoutVisitId = (line: string) => line.replace(/"daily-visit",".+"/, '"daily-visit",ID')
    // A challenge has no message. Only a search finds it.
    expect((await setup.counted()).map(withoutVisitId)).toEqual([
      'member of ada: ["quest","welcome"] by webhook',
      'member of ada: ["task","connect-wallet"] by webhook',
      'member of ada: ["task","daily-visit",ID] by webhook',
      'member of ada: ["task","follow"] by webhook',
      'member of grace: ["task","connect-wallet"] by webhook',
    ])

    setup.down = true
    await setup.complete('ada', 'feedback', 'share')
    await setup.complete('grace', 'follow')
    await setup.complete('linus', 'connect-wallet')
    await setup.clock.advance(HOUR)
    expect(setup.service.deliveries.filter(({ state }) => state === 'undelivered')).toHaveLength(6)
    setup.down = false
    await setup.complete('ada', 'daily-visit')
    await setup.complete('grace', 'feedback', 'share')
    await setup.complete('linus', 'follow')
    await setup.clock.advance(HOUR)

    expect(await setup.coins()).not.toEqual(expectedCoins(setup))
    const { found, ...report } = await setup.search()
    expect(report).toEqual({ read: 4, failed: [] })
    expect(await setup.coins()).toEqual(expectedCoins(setup))
    const bySearch = (await setup.counted()).filter((line) => line.endsWith('by search'))
    expect(bySearch).toEqual([
      'member of ada: ["challenge","all-rounder"] by search',
      'member of ada: ["challenge","regular"] by search',
      'member of ada: ["quest","spread-the-word"] by search',
      'member of ada: ["task","feedback"] by search',
      'member of ada: ["task","share"] by search',
      'member of grace: ["quest","welcome"] by search',
      'member of grace: ["task","follow"] by search',
      'member of linus: ["task","connect-wallet"] by search',
    ])
    expect(found).toBe(bySearch.length)

    // Another message and another search change nothing.
    setup.service.emit({ kind: 'action_completed', account: 'ada', platform, pid, aid: 'follow' })
    setup.service.emit({ kind: 'quest_completed', account: 'ada', platform, pid, cid: 'welcome' })
    await setup.clock.advance(HOUR)
    expect(await setup.search()).toEqual({ read: 4, found: 0, failed: [] })
    expect(await setup.coins()).toEqual(expectedCoins(setup))
  })

  test('counts a completion once when a message and two searches find it at the same time', async () => {
    const users = accounts(12)
    const setup = await createSetup(server, users)
    await setup.search()
    for (const tasks of [['connect-wallet'], ['follow', 'feedback'], ['share', 'daily-visit']]) {
      for (const account of users) await setup.complete(account, ...tasks)
      const reports = await Promise.all([setup.search(), setup.clock.advance(HOUR), setup.search()])
      expect(reports.flatMap((report) => (report ? report.failed : []))).toEqual([])
      await setup.clock.advance(HOUR)
      await setup.search()
      expect(await setup.coins()).toEqual(expectedCoins(setup))
    }
    expect(setup.service.deliveries.map(({ state }) => state)).not.toContain('undelivered')
  })

  test('does not replace a newer reading of another search', async () => {
    const setup = await createSetup(server, ['ada'])
    const { client, pool } = setup
    setup.down = true
    const memberId = memberOf('ada')
    await findMissedEvents({ client, pool, pid, memberId })
    const overtaken = {
      getUserProgress: async (...args: Parameters<CampaignClient['getUserProgress']>) => {
        const reading = await client.getUserProgress(...args)
        await setup.complete('ada', 'connect-wallet')
        expect(await findMissedEvents({ client, pool, pid, memberId })).toMatchObject({ found: 1 })
        return reading
      },
    }
    expect(await findMissedEvents({ client: overtaken, pool, pid, memberId })).toMatchObject({ found: 0 })
    const { rows } = await pool.query('SELECT reading FROM readings')
    expect(rows[0].reading.actions[0]).toMatchObject({ id: 'connect-wallet', status: 'completed' })
  })

  test('counts nothing in the first reading of an entry, or of a new entry', async () => {
    const setup = await createSetup(server, ['ada'])
    setup.down = true
    await setup.complete('ada', 'connect-wallet')
    await setup.clock.advance(HOUR)
    expect(await setup.search()).toMatchObject({ read: 1, found: 0 })
    await setup.pool.query(`UPDATE readings SET reading = (reading::jsonb || '{"id":"an earlier entry"}')::json`)
    await setup.complete('ada', 'follow')
    await setup.clock.advance(HOUR)
    expect(await setup.search()).toMatchObject({ read: 1, found: 0 })
    await setup.complete('ada', 'feedback')
    expect(await setup.search()).toMatchObject({ read: 1, found: 1 })
    expect(await setup.counted()).toEqual(['member of ada: ["task","feedback"] by search'])
  })

  test('finds completions after a first reading at the time when the member joined', async () => {
    const setup = await createSetup(server, ['ada', 'grace'])
    const { client, pool } = setup
    const report = await findMissedEvents({ client, pool, pid, memberId: memberOf('ada') })
    expect(report).toEqual({ read: 1, found: 0, failed: [] })
    setup.down = true
    await setup.complete('ada', 'connect-wallet')
    await setup.clock.advance(HOUR)
    expect(await setup.search()).toMatchObject({ found: 1 })
    expect(await setup.coins()).toEqual(expectedCoins(setup))
  })

  test('reads a member again after a temporary failure, and at most four members at once', async () => {
    const setup = await createSetup(server, accounts(20))
    await setup.search()
    setup.down = true
    for (const account of accounts(20)) await setup.complete(account, 'connect-wallet')
    await setup.clock.advance(HOUR)
    setup.service.fail({ on: 'getUserProgress', kind: 'status', status: 500, times: 3 })
    // The first readings wait until four readings run. A fifth must not start.
    const { pool } = setup
    let reading = 0
    let maxReading = 0
    let areFourReading = false
    const client = {
      getUserProgress: async (...args: Parameters<CampaignClient['getUserProgress']>) => {
        reading += 1
        maxReading = Math.max(maxReading, reading)
        while (!areFourReading) {
          await nextTurn()
          areFourReading ||= reading >= 4
        }
        return setup.client.getUserProgress(...args).finally(() => {
          reading -= 1
        })
      },
    }
    const report = await findMissedEvents({ pool, client, pid })
    expect(report).toEqual({ read: 20, found: 20, failed: [] })
    expect(maxReading).toBe(4)
    expect(await setup.coins()).toEqual(expectedCoins(setup))
  })

  test('a member that failed is read again in the next run', async () => {
    const setup = await createSetup(server, accounts(5))
    await setup.search()
    setup.down = true
    for (const account of accounts(5)) await setup.complete(account, 'connect-wallet')
    await setup.clock.advance(HOUR)
    setup.service.fail({ on: 'getUserProgress', kind: 'status', status: 400, times: 2 })
    const report = await setup.search()
    expect(report).toMatchObject({ read: 3, found: 3 })
    expect(report.failed).toHaveLength(2)
    expect(await setup.search()).toEqual({ read: 5, found: 2, failed: [] })
    expect(await setup.coins()).toEqual(expectedCoins(setup))
  })

  test('a token that is refused ends the run early', async () => {
    const setup = await createSetup(server, accounts(40))
    setup.service.fail({ on: 'getUserProgress', kind: 'status', status: 401, times: 40 })
    await expect(setup.search()).rejects.toMatchObject({ status: 401 })
    expect(setup.service.requests.length).toBeLessThanOrEqual(4)
  })

  describe('the program', () => {
    const PROGRAM = 'examples/find-missed-events.ts'
    const pathOf = compiled(PROGRAM)

    async function start(setup: Setup, baseUrl: string): Promise<ChildProcess> {
      const env = { ...process.env, DATABASE_URL: setup.databaseUrl, CAMPAIGN_BASE_URL: baseUrl, CAMPAIGN_PID: pid }
      const child = spawn(process.execPath, [pathOf(PROGRAM)], {
        env: { ...env, CAMPAIGN_ACCESS_TOKEN: 'any' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    }

    async function run(setup: Setup, baseUrl: string) {
      const child = await start(setup, baseUrl)
      const output: Buffer[] = []
      child.stdout?.on('data', (chunk) => output.push(chunk))
      child.stderr?.on('data', (chunk) => output.push(chunk))
      const [code] = await once(child, 'close')
      return { code, output: Buffer.concat(output).toString() }
    }

    async function withMissedEvents(count: number): Promise<{ setup: Setup; url: string }> {
      const setup = await createSetup(server, accounts(count))
      await setup.search()
      setup.down = true
      for (const account of accounts(count)) await setup.complete(account, 'connect-wallet', 'follow', 'feedback')
      await setup.clock.advance(HOUR)
      const { url, close } = await setup.service.listen()
      onTestFinished(close)
      return { setup, url }
    }

    const renewedMembers = async ({ pool }: Setup): Promise<string[]> =>
      (await pool.query('SELECT member_id FROM readings WHERE version > 1 ORDER BY 1')).rows.map((row) => row.member_id)
    const countedMembers = async ({ pool }: Setup): Promise<string[]> =>
      (await pool.query('SELECT member_id FROM completions GROUP BY 1 HAVING count(*) = 4 ORDER BY 1')).rows.map(
        (row) => row.member_id,
      )

    test('continues after it was killed during readings', async () => {
      const { setup, url } = await withMissedEvents(12)
      const before = setup.service.requests.length
      // Four readings hang, one for each worker. The other members are not read.
      for (let served = 0; served < 5; served++) {
        setup.service.fail({ on: 'getUserProgress', kind: 'delay', delayMs: 0 })
      }
      setup.service.fail({ on: 'getUserProgress', kind: 'hang', times: 4 })
      const child = await start(setup, url)
      await expect.poll(() => setup.service.requests.length - before).toBe(9)
      await expect.poll(() => renewedMembers(setup)).toHaveLength(5)
      child.kill('SIGKILL')
      await once(child, 'close')

      expect(await countedMembers(setup)).toEqual(await renewedMembers(setup))
      expect(await run(setup, url)).toEqual({
        code: 0,
        output: '12 members read, 28 missed completions found, 0 members failed\n',
      })
      expect(await setup.coins()).toEqual(expectedCoins(setup))
    })

    test('stores nothing when killed before the commit', async () => {
      const { setup, url } = await withMissedEvents(3)
      const blocker = await setup.pool.connect()
      onTestFinished(() => blocker.release(true))
      await blocker.query('BEGIN; LOCK TABLE completions IN EXCLUSIVE MODE')
      const child = await start(setup, url)
      const waiting = async () =>
        (await setup.pool.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT%'"))
          .rowCount
      await expect.poll(waiting).toBe(1)
      child.kill('SIGKILL')
      await once(child, 'close')
      await blocker.query('ROLLBACK')

      await expect.poll(() => renewedMembers(setup)).toEqual([])
      expect(await run(setup, url)).toMatchObject({ code: 0, output: expect.stringMatching(/^3 members read, 12 /) })
      expect(await setup.coins()).toEqual(expectedCoins(setup))
    })

    test('ends with exit code 1 if members failed, and with 2 if settings are missing', async () => {
      const { setup, url } = await withMissedEvents(3)
      setup.service.fail({ on: 'getUserProgress', kind: 'status', status: 400, times: 1 })
      const { code, output } = await run(setup, url)
      expect(code).toBe(1)
      expect(output).toContain('2 members read, 8 missed completions found, 1 members failed\n')
      expect(output).toMatch(/^member of user-1\d: getUserProgress: /m)
      expect(await run(setup, '')).toMatchObject({ code: 2, output: expect.stringContaining('Set DATABASE_URL') })
    })
  })
})
