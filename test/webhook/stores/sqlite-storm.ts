/**
 * Handles deliveries of one SQLite file until all are done, in competition with other processes. Its first argument is a
 * `StormTask` as JSON. Writes one line for each delivery that it applied.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { sqliteStore } from 'campaign-client/webhook/sqlite'
import type { StormTask } from './sqlite-storm-process.ts'

const { path, prefix, count, leaseMs } = JSON.parse(process.argv[2] ?? '') as StormTask
const store = sqliteStore(path)

async function handle(key: string): Promise<void> {
  for (;;) {
    const claim = await store.claim(key, leaseMs)
    if (claim.state === 'done') return
    if (claim.state === 'claimed') {
      const { ran } = await store.runOnce(key, (db) => {
        db.prepare('INSERT INTO applied (key) VALUES (?)').run(key)
      })
      if (ran) process.stdout.write(`${key}\n`)
      await store.complete(key, claim.token, 3_600_000)
      return
    }
    await wait(Math.min(claim.retryMs + 1, 50))
  }
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
