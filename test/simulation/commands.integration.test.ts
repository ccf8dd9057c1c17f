import { randomUUID } from 'node:crypto'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { redisStore } from 'campaign-client/webhook/redis'
import Ioredis from 'ioredis'
import { describe, test } from 'vitest'
import { LEDGER } from '../../src/bulk/ledger/ledger.ts'
import { awardTables } from '../bulk/award-tables.ts'
import { postgres } from '../databases/postgres.ts'
import { redis } from '../databases/redis.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { expectLedgerFollowsModel } from './ledger-commands.ts'
import { expectStoreFollowsModel } from './store-commands.ts'

const RUNS = 60

describe.skipIf(skipsWithout(postgres.name, postgres.missing))('over a real PostgreSQL', () => {
  const tables = awardTables()

  test('postgresLedger follows the model of the simulated world', async () => {
    const { pool } = tables()
    await expectLedgerFollowsModel(async () => {
      const run = randomUUID()
      const session = await postgresLedger(pool, { run })[LEDGER].open(undefined)
      const text =
        "UPDATE campaign_awards SET lease_until = '2000-01-01' WHERE run = $1 AND id = $2 AND attempt IS NOT NULL"
      return { session, expire: (id) => pool.query(text, [run, id]) }
    }, RUNS)
  })

  test('postgresStore follows the model of the contract', async () => {
    const { pool } = tables()
    await expectStoreFollowsModel(async () => {
      const table = 'commands_deliveries'
      await pool.query(`DROP TABLE IF EXISTS ${table}; ${postgresSchema(table)}`)
      return { store: postgresStore(pool, { table }), advance: undefined }
    }, RUNS)
  })
})

test.skipIf(skipsWithout(redis.name, redis.missing))('redisStore follows the model of the contract', async () => {
  const service = await redis.start()
  const client = new Ioredis(service.url)
  try {
    await expectStoreFollowsModel(
      async () => ({ store: redisStore(client, { prefix: `${randomUUID()}:` }), advance: undefined }),
      RUNS,
    )
  } finally {
    client.disconnect()
    await service.stop()
  }
})
