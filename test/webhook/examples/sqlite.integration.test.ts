import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { signWebhook } from 'campaign-client/webhook'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteFolder } from '../../databases/sqlite.ts'
import { compiled } from '../../support/compiled.ts'
import { type RunningExample, startExample } from '../../support/running-example.ts'
import { exampleActivity } from '../activity.ts'

const secret = randomUUID()
const example = 'examples/webhook-sqlite.ts'
const pathOf = compiled(example)

const start = (file: string): Promise<RunningExample> =>
  startExample(pathOf(example), { DATABASE_FILE: file, CAMPAIGN_WEBHOOK_SECRET: secret })

async function deliver(url: string, id: string): Promise<number> {
  const body = JSON.stringify(exampleActivity({ id, user: 'ada' }))
  const headers = { 'content-type': 'application/json', 'x-service-signature': signWebhook(secret, body) }
  return (await fetch(url, { method: 'POST', body, headers })).status
}

test('examples/webhook-sqlite.ts credits each message once in two processes, and ends on SIGTERM', async () => {
  const folder = sqliteFolder()
  onTestFinished(folder.remove)
  const file = folder.file()
  const [first, second] = await Promise.all([start(file), start(file)])
  const ids = Array.from({ length: 10 }, () => randomUUID())
  const attempts = [...ids, ...ids].map((id, i) => deliver((i % 2 === 0 ? first : second).url, id))
  for (const status of await Promise.all(attempts)) expect([200, 503]).toContain(status)
  for (const id of ids) expect(await deliver(first.url, id)).toBe(200)
  for (const id of ids) expect(await deliver(second.url, id)).toBe(200)
  for (const { process } of [first, second]) {
    const exited = once(process, 'exit')
    process.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
  }
  const database = new DatabaseSync(file)
  onTestFinished(() => database.close())
  expect({ ...database.prepare('SELECT user_id, xp FROM balances').get() }).toEqual({ user_id: 'ada', xp: 100 })
})
