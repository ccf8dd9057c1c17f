import { setTimeout as wait } from 'node:timers/promises'
import { CampaignClient } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import fc from 'fast-check'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { leaderboardMirror, schema } from '../../examples/leaderboard-mirror.ts'
import { ownDatabase } from '../databases/own-database.ts'
import { postgres } from '../databases/postgres.ts'
import { skipsWithout } from '../support/skips-without.ts'

const SECRET = 'the secret of the webhook'
const accounts = ['ada', 'grace', 'linus'] as const
const user = (account: string) => ({ account, platform: 'discord', pid: 'demo' })

/** Creates a service that only records its messages. The test delivers them. */
function start(pool: Pool, delayOf: () => number = () => 0) {
  const held: Request[] = []
  const service = createCampaignService({
    deliver(request) {
      held.push(request)
      return new Response()
    },
    webhooks: [{ url: 'https://shop.example/webhooks/campaign', secret: SECRET }],
  })
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'any',
    maxRetries: 0,
    // The response is created immediately, and may be outdated when it arrives.
    async fetch(...request) {
      const response = await service.fetch(...request)
      await wait(delayOf())
      return response
    },
  })
  const { app: mirror, refresh } = leaderboardMirror({ pool, client, secret: SECRET, pid: 'demo', platform: 'discord' })
  const shown = async () => (await mirror.request('/leaderboard')).json()
  return { service, mirror, refresh, held, shown }
}

describe.skipIf(skipsWithout(postgres.name, postgres.missing))('leaderboard-mirror', () => {
  async function emptyDatabase(): Promise<Pool> {
    const database = await postgres.start()
    onTestFinished(() => database.stop())
    const pool = new Pool({ connectionString: await ownDatabase(database), max: 8 })
    onTestFinished(() => pool.end())
    await pool.query(schema)
    return pool
  }

  test('shows the current points after duplicate and reordered messages', async () => {
    const pool = await emptyDatabase()
    const visits = fc.array(fc.constantFrom(...accounts), { minLength: 1, maxLength: 8 })
    const chances = fc.infiniteStream(fc.integer({ min: 0, max: 9 }))
    await fc.assert(
      fc.asyncProperty(visits, chances, async (visited, chance) => {
        await pool.query('TRUNCATE leaderboard')
        const next = () => chance.next().value
        const { service, mirror, held, shown } = start(pool, next)
        const answers: Promise<Response>[] = []
        const deliver = (request: Request) => answers.push(Promise.resolve(mirror.fetch(request.clone())))
        for (const account of visited) {
          service.completeTask({ ...user(account), aid: 'daily-visit' })
          await service.settle()
          // Delivers some messages while points change, some twice, and the rest in reverse order.
          if (next() < 3) deliver(held[0] as Request)
        }
        for (const request of held.reverse()) deliver(request)
        for (const { status } of await Promise.all(answers)) expect([200, 503]).toContain(status)
        const totals = new Map(service.state.entries.map(({ account, total }) => [account, total]))
        const rows = (await shown()) as { account: string; xp: number }[]
        expect(new Set(rows.map(({ account }) => account))).toEqual(new Set(visited))
        for (const { account, xp } of rows) expect(xp).toBe(totals.get(account))
      }),
      { numRuns: 25 },
    )
  })

  test('does not replace a later reading with an earlier reading', async () => {
    const pool = await emptyDatabase()
    const delays = [200, 0]
    const { service, mirror, held, shown } = start(pool, () => delays.shift() ?? 0)
    service.emit({ kind: 'action_completed', ...user('linus'), aid: 'daily-visit' })
    await service.settle()
    const slow = mirror.fetch(held[0] as Request)
    await expect.poll(() => service.requests.length).toBe(1)
    service.completeTask({ ...user('linus'), aid: 'daily-visit' })
    await service.settle()
    expect((await mirror.fetch(held[1] as Request)).status).toBe(200)
    expect((await slow).status).toBe(200)
    expect(await shown()).toEqual([{ account: 'linus', xp: 30, rank: 1 }])
  })

  test('refuses a message if the points cannot be read, so that the service retries', async () => {
    const pool = await emptyDatabase()
    const { service, mirror, held, shown } = start(pool)
    service.completeTask({ ...user('ada'), aid: 'feedback' })
    await service.settle()
    // The receiver reads three times before it gives up.
    service.fail({ kind: 'status', status: 503, times: 3 })
    expect((await mirror.fetch((held[0] as Request).clone())).status).toBe(500)
    expect(await shown()).toEqual([])
    expect((await mirror.fetch(held[0] as Request)).status).toBe(200)
    expect(await shown()).toEqual([{ account: 'ada', xp: 1225, rank: 1 }])
  })

  test('refresh reads the points of all users again, and returns the errors', async () => {
    const pool = await emptyDatabase()
    const { service, mirror, refresh, held, shown } = start(pool)
    for (const account of ['ada', 'linus']) service.completeTask({ ...user(account), aid: 'daily-visit' })
    await service.settle()
    for (const request of held) expect((await mirror.fetch(request)).status).toBe(200)
    await pool.query("INSERT INTO leaderboard VALUES ('nobody', 7, 1)")
    // No message arrives.
    for (const account of ['ada', 'linus']) service.completeTask({ ...user(account), aid: 'daily-visit' })
    expect(await refresh()).toMatchObject([{ code: 'bad_request' }])
    const totals = new Map(service.state.entries.map(({ account, total }) => [account, total]))
    for (const { account, xp } of (await shown()) as { account: string; xp: number }[]) {
      expect(xp).toBe(totals.get(account) ?? 7)
    }
  })

  test('gives users with equal points the same rank', async () => {
    const pool = await emptyDatabase()
    await pool.query("INSERT INTO leaderboard VALUES ('a', 5, 1), ('b', 7, 2), ('c', 5, 3)")
    expect(await start(pool).shown()).toEqual([
      { account: 'b', xp: 7, rank: 1 },
      { account: 'a', xp: 5, rank: 2 },
      { account: 'c', xp: 5, rank: 2 },
    ])
  })
})
