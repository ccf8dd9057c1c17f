import { DatabaseSync } from 'node:sqlite'
import { memoryStore } from 'campaign-client/webhook'
import { sqliteSchema, sqliteStore } from 'campaign-client/webhook/sqlite'
import { test } from 'vitest'
import { expectStoreFollowsModel } from './store-commands.ts'

test('memoryStore follows the model of the contract', async () => {
  await expectStoreFollowsModel(async () => {
    let now = 0
    const advance = (ms: number): void => {
      now += ms
    }
    return { store: memoryStore({ now: () => now }), advance }
  }, 200)
})

test('sqliteStore follows the model of the contract', async () => {
  await expectStoreFollowsModel(async () => {
    let now = 1_767_225_600_000
    const database = new DatabaseSync(':memory:')
    database.function('julianday', { varargs: true }, () => now / 86_400_000 + 2_440_587.5)
    database.exec(sqliteSchema())
    const advance = (ms: number): void => {
      // The julian day is rounded down to a millisecond.
      now += ms + 1
    }
    return { store: sqliteStore(database), advance }
  }, 100)
})
