import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { signWebhook } from 'campaign-client/webhook'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteFolder } from '../../databases/sqlite.ts'
import { compiled } from '../../support/compiled.ts'
import { exampleActivity } from '../activity.ts'

const secret = randomUUID()
const example = 'examples/webhook-sqlite.ts'
const pathOf = compiled(example)

/** Starts the example, and waits until it listens. */
async function start(file: string): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [pathOf(example)], {
    env: { ...process.env, DATABASE_FILE: file, CAMPAIGN_WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the example ended before it listened')))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /^listening on (.+)$/.exec(line)?.[1]
      if (url !== undefined) resolve({ process: child, url })
    })
  })
}

async function deliver(url: string, id: string): Promise<number> {
  const body = JSON.stringify(exampleActivity({ id, user: 'ada' }))
  const headers = { 'content-type': 'application/json', 'x-service-signature': signWebhook(secret, body) }
  return (await fetch(url, { method: 'POST', body, headers })).status
}

test('examples/webhook-sqlite.ts books each message once in two processes, and ends on SIGTERM', async () => {
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
}, 60_000)
