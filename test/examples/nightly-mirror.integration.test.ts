import type { DatabaseSync } from 'node:sqlite'
import { CampaignClient } from 'campaign-client'
import { type CampaignService, createCampaignService, demoCampaign } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { addUsers, openMirror, updateMirror } from '../../examples/nightly-mirror.ts'

const pid = 'demo'
const platform = 'discord'
const accounts = ['ada', 'grace'] as const

/** Creates a campaign in which no user has XP. */
const createService = (): CampaignService =>
  createCampaignService({
    campaigns: [{ ...demoCampaign, users: accounts.map((account) => ({ account, platform })) }],
  })

/** Creates a mirror of users that it has read once. */
async function createMirror() {
  const service = createService()
  const database = openMirror(':memory:')
  onTestFinished(() => database.close())
  addUsers(database, accounts)
  const update = ({ fetch } = service) => {
    const client = new CampaignClient({
      baseUrl: 'https://service.example/api/v1',
      accessToken: 'any',
      fetch,
      maxRetries: 0,
    })
    return updateMirror({ database, client, pid, platform })
  }
  expect(await update()).toEqual({ read: 2, changes: 0, failed: [] })
  const complete = (account: string, aid: string) => service.completeTask({ account, platform, pid, aid })
  return { service, database, update, complete }
}

const changesIn = (database: DatabaseSync) =>
  database
    .prepare('SELECT account, kind FROM changes ORDER BY account, rowid')
    .all()
    .map(({ account, kind }) => `${account}: ${kind}`)

const progressIn = (database: DatabaseSync, account: string) =>
  JSON.parse(String(database.prepare('SELECT progress FROM users WHERE account = ?').get(account)?.progress))

describe('nightly-mirror', () => {
  test('records what has changed, but not that the XP of another user changed a rank', async () => {
    const { database, update, complete } = await createMirror()
    complete('ada', 'feedback')
    await update()
    expect(changesIn(database)).toEqual(['ada: task_completed', 'ada: xp_changed'])
    const { rank } = progressIn(database, 'ada')
    complete('grace', 'connect-wallet')
    expect(await update()).toEqual({ read: 2, changes: 2, failed: [] })
    expect(changesIn(database).slice(2)).toEqual(['grace: task_completed', 'grace: xp_changed'])
    expect(progressIn(database, 'ada').rank).toBeGreaterThan(rank)
    expect(await update()).toEqual({ read: 2, changes: 0, failed: [] })
  })

  test('finds the changes of a user in the next run if the progress could not be read', async () => {
    const { service, database, update, complete } = await createMirror()
    addUsers(database, ['nobody'])
    complete('grace', 'feedback')
    const { read, failed } = await update({
      ...service,
      fetch: async (url, init) => {
        if (String(url).includes('grace')) return new Response(null, { status: 403 })
        return service.fetch(url, init)
      },
    })
    expect([read, failed]).toEqual([1, [expect.stringMatching(/^grace: /), expect.stringMatching(/^nobody: /)]])
    expect(changesIn(database)).toEqual([])
    expect(await update()).toMatchObject({ read: 2, changes: 2 })
  })

  test('keeps no change whose progress was not stored', async () => {
    const { database, update, complete } = await createMirror()
    complete('ada', 'feedback')
    database.exec(`CREATE TRIGGER full BEFORE UPDATE ON users BEGIN SELECT raise(ABORT, 'the disk is full'); END`)
    await expect(update()).rejects.toThrow('the disk is full')
    expect(changesIn(database)).toEqual([])
    database.exec('DROP TRIGGER full')
    await update()
    expect(changesIn(database)).toEqual(['ada: task_completed', 'ada: xp_changed'])
  })

  test('starts again with a user whose entry in the campaign is new', async () => {
    const { database, update, complete } = await createMirror()
    complete('ada', 'feedback')
    expect(await update(createService())).toEqual({ read: 2, changes: 0, failed: [] })
    expect(changesIn(database)).toEqual([])
  })
})
