import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../databases/postgres.ts'
import { compiled } from '../support/compiled.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { awardTables } from './award-tables.ts'
import type { RaceResult } from './bind-program.ts'
import { ledgerContract } from './ledger-contract.ts'

const PROGRAM = 'test/bulk/bind-program.ts'
const pathOf = compiled(PROGRAM)
const RACES = 100

describe.skipIf(skipsWithout('PostgreSQL', postgres.missing))('the ledger in PostgreSQL', () => {
  const tables = awardTables()
  let sql: ReturnType<typeof postgresJs>
  beforeAll(() => {
    sql = postgresJs(tables().url, { max: 4, prepare: false, fetch_types: false, onnotice: () => undefined })
  })
  afterAll(() => sql?.end())

  describe.each(['pg', 'postgres'])('with %s', (name) => {
    ledgerContract(() => {
      const run = randomUUID()
      return (options) => postgresLedger(name === 'pg' ? tables().pool : sql, { run, ...options })
    })
  })

  test('two processes with different targets race on empty runs: no run has awards of both', async () => {
    const prefix = randomUUID()
    const race = (label: string) =>
      promisify(execFile)(process.execPath, [pathOf(PROGRAM), tables().url, label, prefix, `${RACES}`])
    const [one, other] = await Promise.all(['one', 'other'].map(race))
    const text = `SELECT run.target, array_agg(DISTINCT split_part(award.id, '-', 1)) AS labels, count(*) AS awards
      FROM campaign_awards_runs AS run JOIN campaign_awards AS award USING (run) WHERE run LIKE $1 GROUP BY run.run, run.target`
    const { rows } = await tables().pool.query<{ target: string; labels: string[]; awards: string }>(text, [
      `${prefix}-%`,
    ])
    // If the first award of a run is released after the other process was refused, the run stays empty.
    expect(rows.length).toBeGreaterThan(RACES * 0.7)
    for (const { target, labels } of rows) {
      expect(labels).toHaveLength(1)
      expect(target).toContain(`https://${labels[0]}.example/`)
    }
    const results = [one, other].map((output) => JSON.parse(output?.stdout ?? '') as RaceResult)
    const awarded = results.reduce((sum, result) => sum + result.awarded, 0)
    expect(awarded).toBe(rows.reduce((sum, { awards }) => sum + Number(awards), 0))
    expect(results.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0)
  })
})
