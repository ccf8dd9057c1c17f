/**
 * Handles deliveries of one SQLite file until all are done, in competition with other processes. Its first argument is a
 * `StormTask` as JSON. Writes one line for each delivery that it applied.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { sqliteStore } from 'campaign-client/webhook/sqlite'
import type { StormTask } from './sqlite-storm-process.ts'

const { path, prefix, count, leaseMs } = JSON.parse(process.argv[2] ?? '') as StormTask
const store = sqliteStore(path)

/** Handles a delivery as far as possible. Returns whether it is done. */
async function attempt(key: string): Promise<boolean> {
  const claim = await store.claim(key, leaseMs)
  if (claim.state !== 'claimed') return claim.state === 'done'
  const { ran } = await store.runOnce(key, (db) => {
    db.prepare('INSERT INTO applied (key) VALUES (?)').run(key)
  })
  if (ran) process.stdout.write(`${key}\n`)
  await store.complete(key, claim.token, 3_600_000)
  return true
}

async function handle(key: string): Promise<void> {
  while (!(await attempt(key).catch(retryIfBusy))) await wait(50)
}

/** On a busy machine, the other processes may lock the database for longer than the store waits. */
function retryIfBusy(error: Error): boolean {
  if (!error.message.includes('the database is busy')) throw error
  return false
}

// Each process starts at another place, and all of them meet.
const start = process.pid % count
const keys = Array.from({ length: count }, (_, index) => `${prefix}${(start + index) % count}`)
await Promise.all(
  Array.from({ length: 4 }, async () => {
    for (let key = keys.shift(); key !== undefined; key = keys.shift()) await handle(key)
  }),
)
store.close()
