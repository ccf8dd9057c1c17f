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
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  campaignReceiver,
  createTables,
  findMissedEvents,
  openPool,
  type SearchReport,
  searchMember,
} from '../../examples/find-missed-events.ts'
import type { Database } from '../databases/database.ts'
import { ownDatabase } from '../databases/own-database.ts'
import { postgres } from '../databases/postgres.ts'
import { compiled } from '../support/compiled.ts'
import { skipsWithout } from '../support/skips-without.ts'

// Programs take seconds to start on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const HOUR = 3_600_000
const pid = 'demo'
const platform = 'discord'
const secret = 'a-webhook-secret'
const coins: Record<string, number> = { welcome: 50, 'spread-the-word': 50, regular: 100, 'all-rounder': 100 }

/** A partner's database and receiver, and the local service. */
interface World {
  readonly service: CampaignService
  readonly client: CampaignClient
  readonly clock: ManualClock
  readonly pool: Pool
  readonly databaseUrl: string
  /** Whether the receiver is available. */
  down: boolean
  search(): Promise<SearchReport>
  complete(account: string, ...tasks: string[]): Promise<void>
  /** The coins of each member. */
  coins(): Promise<Record<string, number>>
  counted(): Promise<string[]>
}

const accounts = (count: number) => Array.from({ length: count }, (_, index) => `user-${index + 10}`)
const memberOf = (account: string) => `member of ${account}`
const asMember = (account: string) => ({ member_id: memberOf(account), account, platform })

async function createWorld(postgresServer: Database, users: readonly string[]): Promise<World> {
  const databaseUrl = await ownDatabase(postgresServer)
  const pool = openPool(databaseUrl)
  onTestFinished(() => pool.end())
  await createTables(pool)
  const receiver = campaignReceiver(pool, secret)
  onTestFinished(() => receiver.close())
  const clock = createManualClock({ patienceMs: 30_000 })
  const deliver: CampaignServiceOptions['deliver'] = (request) => {
    if (world.down) throw new Error('connect ECONNREFUSED')
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
  const world: World = {
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
  return world
}

/** The expected coins of each member: every completion since the start once, every daily visit. */
function due({ service }: World): Record<string, number> {
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
    const world = await createWorld(server, ['ada', 'grace', 'linus', 'quiet'])
    expect(await world.search()).toEqual({ read: 4, found: 0, failed: [] })

    await world.complete('ada', 'connect-wallet', 'follow', 'daily-visit')
    await world.complete('grace', 'connect-wallet')
    await world.clock.advance(0)
    const visit = (line: string) => line.replace(/"daily-visit",".+"/, '"daily-visit",ID')
    // A challenge has no message. Only a reading shows it.
    expect((await world.counted()).map(visit)).toEqual([
      'member of ada: ["quest","welcome"] by webhook',
      'member of ada: ["task","connect-wallet"] by webhook',
      'member of ada: ["task","daily-visit",ID] by webhook',
      'member of ada: ["task","follow"] by webhook',
      'member of grace: ["task","connect-wallet"] by webhook',
    ])

    world.down = true
    await world.complete('ada', 'feedback', 'share')
    await world.complete('grace', 'follow')
    await world.complete('linus', 'connect-wallet')
    await world.clock.advance(HOUR)
    expect(world.service.deliveries.filter(({ state }) => state === 'undelivered')).toHaveLength(6)
    world.down = false
    await world.complete('ada', 'daily-visit')
    await world.complete('grace', 'feedback', 'share')
    await world.complete('linus', 'follow')
    await world.clock.advance(HOUR)

    expect(await world.coins()).not.toEqual(due(world))
    const { found, ...report } = await world.search()
    expect(report).toEqual({ read: 4, failed: [] })
    expect(await world.coins()).toEqual(due(world))
    const bySearch = (await world.counted()).filter((line) => line.endsWith('by search'))
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

    // The same again, from another message and another search.
    world.service.emit({ kind: 'action_completed', account: 'ada', platform, pid, aid: 'follow' })
    world.service.emit({ kind: 'quest_completed', account: 'ada', platform, pid, cid: 'welcome' })
    await world.clock.advance(HOUR)
    expect(await world.search()).toEqual({ read: 4, found: 0, failed: [] })
    expect(await world.coins()).toEqual(due(world))
  })

  test('counts a completion once when a message and two searches find it at the same time', async () => {
    const users = accounts(12)
    const world = await createWorld(server, users)
    await world.search()
    for (const tasks of [['connect-wallet'], ['follow', 'feedback'], ['share', 'daily-visit']]) {
      for (const account of users) await world.complete(account, ...tasks)
      const reports = await Promise.all([world.search(), world.clock.advance(HOUR), world.search()])
      expect(reports.flatMap((report) => (report ? report.failed : []))).toEqual([])
      await world.clock.advance(HOUR)
      await world.search()
      expect(await world.coins()).toEqual(due(world))
    }
    expect(world.service.deliveries.map(({ state }) => state)).not.toContain('undelivered')
  })

  test('does not replace a newer reading of another search', async () => {
    const world = await createWorld(server, ['ada'])
    const { client, pool } = world
    world.down = true
    await searchMember({ client, pool, pid }, asMember('ada'))
    const overtaken = {
      getUserProgress: async (...args: Parameters<CampaignClient['getUserProgress']>) => {
        const reading = await client.getUserProgress(...args)
        await world.complete('ada', 'connect-wallet')
        expect(await searchMember({ client, pool, pid }, asMember('ada'))).toBe(1)
        return reading
      },
    }
    expect(await searchMember({ client: overtaken, pool, pid }, asMember('ada'))).toBe(0)
    const { rows } = await pool.query('SELECT reading FROM readings')
    expect(rows[0].reading.actions[0]).toMatchObject({ id: 'connect-wallet', status: 'completed' })
  })

  test('counts nothing in the first reading of an entry, or of a new entry', async () => {
    const world = await createWorld(server, ['ada'])
    world.down = true
    await world.complete('ada', 'connect-wallet')
    await world.clock.advance(HOUR)
    expect(await world.search()).toMatchObject({ read: 1, found: 0 })
    await world.pool.query(`UPDATE readings SET reading = (reading::jsonb || '{"id":"an earlier entry"}')::json`)
    await world.complete('ada', 'follow')
    await world.clock.advance(HOUR)
    expect(await world.search()).toMatchObject({ read: 1, found: 0 })
    await world.complete('ada', 'feedback')
    expect(await world.search()).toMatchObject({ read: 1, found: 1 })
    expect(await world.counted()).toEqual(['member of ada: ["task","feedback"] by search'])
  })

  test('finds completions before the first night after a first reading at joining', async () => {
    const world = await createWorld(server, ['ada'])
    const { client, pool } = world
    expect(await searchMember({ client, pool, pid }, asMember('ada'))).toBe(0)
    world.down = true
    await world.complete('ada', 'connect-wallet')
    await world.clock.advance(HOUR)
    expect(await world.search()).toMatchObject({ found: 1 })
    expect(await world.coins()).toEqual(due(world))
  })

  test('leaves a failed member for the next run, and reads at most four at once', async () => {
    const world = await createWorld(server, accounts(20))
    await world.search()
    world.down = true
    for (const account of accounts(20)) await world.complete(account, 'connect-wallet')
    await world.clock.advance(HOUR)
    world.service.fail({ on: 'getUserProgress', kind: 'status', status: 500, times: 3 })
    // The first readings wait until four are running. There must be no fifth.
    const { pool } = world
    const isIdle = () => pool.waitingCount === 0 && pool.idleCount === pool.totalCount
    let reading = 0
    let most = 0
    let begun = false
    const client = {
      getUserProgress: async (...args: Parameters<CampaignClient['getUserProgress']>) => {
        reading += 1
        most = Math.max(most, reading)
        while (!begun) {
          await nextTurn()
          begun ||= reading >= 4 && isIdle()
        }
        return world.client.getUserProgress(...args).finally(() => {
          reading -= 1
        })
      },
    }
    const report = await findMissedEvents({ pool, client, pid })
    expect(report).toMatchObject({ read: 17, found: 17 })
    expect(report.failed).toHaveLength(3)
    expect(most).toBe(4)
    expect(await world.search()).toEqual({ read: 20, found: 3, failed: [] })
    expect(await world.coins()).toEqual(due(world))
  })

  test.each([
    ['a token that is refused', 401, 1],
    ['a service that is down', 503, 20],
  ])('%s ends the run early', async (_, status, least) => {
    const world = await createWorld(server, accounts(40))
    world.service.fail({ on: 'getUserProgress', kind: 'status', status, times: 40 })
    await expect(world.search()).rejects.toMatchObject({ status })
    expect(world.service.requests.length).toBeGreaterThanOrEqual(least)
    expect(world.service.requests.length).toBeLessThan(least + 8)
  })

  describe('as a program', () => {
    const PROGRAM = 'examples/find-missed-events.ts'
    const pathOf = compiled(PROGRAM)

    async function start(world: World, baseUrl: string): Promise<ChildProcess> {
      const env = { ...process.env, DATABASE_URL: world.databaseUrl, CAMPAIGN_BASE_URL: baseUrl, CAMPAIGN_PID: pid }
      const child = spawn(process.execPath, [pathOf(PROGRAM)], {
        env: { ...env, CAMPAIGN_ACCESS_TOKEN: 'any' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    }

    async function run(world: World, baseUrl: string) {
      const child = await start(world, baseUrl)
      const output: Buffer[] = []
      child.stdout?.on('data', (chunk) => output.push(chunk))
      child.stderr?.on('data', (chunk) => output.push(chunk))
      const [code] = await once(child, 'close')
      return { code, output: Buffer.concat(output).toString() }
    }

    async function missedByAll(count: number): Promise<{ world: World; url: string }> {
      const world = await createWorld(server, accounts(count))
      await world.search()
      world.down = true
      for (const account of accounts(count)) await world.complete(account, 'connect-wallet', 'follow', 'feedback')
      await world.clock.advance(HOUR)
      const { url, close } = await world.service.listen()
      onTestFinished(close)
      return { world, url }
    }

    const readingsRenewed = async ({ pool }: World): Promise<string[]> =>
      (await pool.query('SELECT member_id FROM readings WHERE version > 1 ORDER BY 1')).rows.map((row) => row.member_id)
    const membersCounted = async ({ pool }: World): Promise<string[]> =>
      (await pool.query('SELECT member_id FROM completions GROUP BY 1 HAVING count(*) = 4 ORDER BY 1')).rows.map(
        (row) => row.member_id,
      )

    test('continues after it was killed while reading', async () => {
      const { world, url } = await missedByAll(12)
      const before = world.service.requests.length
      // Four readings hang, one for each worker. The other members are not read.
      for (let served = 0; served < 5; served++) {
        world.service.fail({ on: 'getUserProgress', kind: 'delay', delayMs: 0 })
      }
      world.service.fail({ on: 'getUserProgress', kind: 'hang', times: 4 })
      const child = await start(world, url)
      await expect.poll(() => world.service.requests.length - before, { timeout: 60_000 }).toBe(9)
      await expect.poll(() => readingsRenewed(world), { timeout: 60_000 }).toHaveLength(5)
      child.kill('SIGKILL')
      await once(child, 'close')

      expect(await membersCounted(world)).toEqual(await readingsRenewed(world))
      expect(await run(world, url)).toEqual({
        code: 0,
        output: '12 members read, 28 missed completions found, 0 members failed\n',
      })
      expect(await world.coins()).toEqual(due(world))
    })

    test('stores nothing when killed before the commit', async () => {
      const { world, url } = await missedByAll(3)
      const blocker = await world.pool.connect()
      onTestFinished(() => blocker.release(true))
      await blocker.query('BEGIN; LOCK TABLE completions IN EXCLUSIVE MODE')
      const child = await start(world, url)
      const waiting = async () =>
        (await world.pool.query("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT%'"))
          .rowCount
      await expect.poll(waiting, { timeout: 60_000 }).toBe(3)
      child.kill('SIGKILL')
      await once(child, 'close')
      await blocker.query('ROLLBACK')

      await expect.poll(() => readingsRenewed(world)).toEqual([])
      expect(await run(world, url)).toMatchObject({ code: 0, output: expect.stringMatching(/^3 members read, 12 /) })
      expect(await world.coins()).toEqual(due(world))
    })

    test('exits with 1 when members failed, and with 2 without its settings', async () => {
      const { world, url } = await missedByAll(3)
      world.service.fail({ on: 'getUserProgress', kind: 'status', status: 400, times: 1 })
      const { code, output } = await run(world, url)
      expect(code).toBe(1)
      expect(output).toContain('2 members read, 8 missed completions found, 1 members failed\n')
      expect(output).toMatch(/^member of user-1\d: getUserProgress: /m)
      expect(await run(world, '')).toMatchObject({ code: 2, output: expect.stringContaining('Set DATABASE_URL') })
    })
  })
})
