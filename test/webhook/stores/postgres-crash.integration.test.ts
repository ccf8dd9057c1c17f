import { randomUUID } from 'node:crypto'
import { postgresSchema } from 'campaign-client/webhook/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Database } from '../../databases/database.ts'
import { postgres } from '../../databases/postgres.ts'
import { skipsWithout } from '../../support/skips-without.ts'
import { crashContract } from './crash.ts'

describe.skipIf(skipsWithout(postgres.name, postgres.missing))('postgresStore when processes die', () => {
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  let service: Database
  let pool: Pool

  beforeAll(async () => {
    service = await postgres.start()
    pool = new Pool({ connectionString: service.url })
    await pool.query(`CREATE SCHEMA ${schema}`)
    await pool.query(postgresSchema(`${schema}.deliveries`))
    await pool.query(`CREATE TABLE ${schema}.applied (key text NOT NULL)`)
  })

  afterAll(async () => {
    await pool?.query(`DROP SCHEMA ${schema} CASCADE`)
    await pool?.end()
    await service?.stop()
  })

  crashContract('pg', () => ({ url: service.url, namespace: schema }), { exactlyOnce: true })
})
