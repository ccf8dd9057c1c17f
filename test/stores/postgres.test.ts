import { randomUUID } from 'node:crypto'
import { postgresSchema, postgresStore } from 'campaign-client/webhook/postgres'
import { Pool } from 'pg'
import connect, { type Sql } from 'postgres'
import { afterAll, beforeAll, describe } from 'vitest'
import { postgres } from '../services/postgres.ts'
import { type Service, skipsWithout } from '../services/service.ts'
import { storeContract } from './contract.ts'

describe.skipIf(skipsWithout(postgres.name, postgres.missing))('postgresStore over a real PostgreSQL', () => {
  const schema = `test_${randomUUID().replaceAll('-', '')}`
  const table = `${schema}.deliveries`
  let service: Service
  let pool: Pool
  let sql: Sql

  beforeAll(async () => {
    service = await postgres.start()
    pool = new Pool({ connectionString: service.url, max: 10 })
    sql = connect(service.url, { max: 10 })
    await pool.query(`CREATE SCHEMA ${schema}`)
    await pool.query(postgresSchema(table))
  })

  afterAll(async () => {
    await pool?.query(`DROP SCHEMA ${schema} CASCADE`)
    await sql?.end()
    await pool?.end()
    await service?.stop()
  })

  describe('with a pool of pg', () => {
    storeContract(() => postgresStore(pool, { table }), { checksArguments: true })
  })

  describe('with the sql of postgres', () => {
    storeContract(() => postgresStore(sql, { table }), { checksArguments: true })
  })
})
