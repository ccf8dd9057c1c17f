import { join } from 'node:path'
import { type SqliteDatabase, sqliteStore } from 'campaign-client/webhook/sqlite'
import { equal, matches, rejection } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

/** The store of deliveries in a file. */
export const sqlite: readonly Behaviour[] = [
  {
    name: 'sqliteStore: two stores over one file share claims and completed deliveries',
    run: () =>
      inTemporaryFolder(async (folder) => {
        const path = join(folder, 'deliveries.db')
        const [one, other] = [sqliteStore(path), sqliteStore(path)]
        const claim = await one.claim('key', 60_000)
        if (claim.state !== 'claimed') throw new Error(`expected a claim, got ${claim.state}`)
        matches(await other.claim('key', 60_000), { state: 'busy' })
        equal(await other.extend('key', 'another token', 60_000), false, 'extended with another token')
        equal(await other.extend('key', claim.token, 60_000), true, 'extended')
        equal(await one.complete('key', claim.token, 60_000), true, 'completed')
        matches(await other.claim('key', 60_000), { state: 'done' })
        for (const store of [one, other]) store.close()
      }),
  },
  {
    name: 'sqliteStore: runOnce commits a write once, and rolls back when it throws',
    run: () =>
      inTemporaryFolder(async (folder) => {
        const store = sqliteStore(join(folder, 'deliveries.db'))
        const failure = new Error('the write failed')
        await store.runOnce('setup', (db) => void db.exec('CREATE TABLE balances (xp INTEGER)'))
        const write = (db: SqliteDatabase) => db.prepare('INSERT INTO balances VALUES (50)').run()
        const failing = store.runOnce('key', (db) => {
          write(db)
          throw failure
        })
        equal(await rejection(failing), failure, 'error')
        matches(await store.runOnce('key', write), { ran: true })
        matches(await store.runOnce('key', write), { ran: false })
        const { result } = (await store.runOnce('sum', (db) =>
          db.prepare('SELECT sum(xp) AS xp FROM balances').get(),
        )) as {
          result: unknown
        }
        matches(result, { xp: 50 })
        store.close()
      }),
  },
]
