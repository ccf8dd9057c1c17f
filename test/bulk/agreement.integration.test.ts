import { describe, test } from 'vitest'
import { postgres } from '../databases/postgres.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { runScenarios } from './agreement.ts'
import { postgresLedgers } from './postgres-ledgers.ts'

describe.skipIf(skipsWithout('PostgreSQL', postgres.missing))('the counts of every report', () => {
  const newLedger = postgresLedgers()

  test('agree with the ledger in PostgreSQL, for every row that was read', async () => {
    await runScenarios('agreement, PostgreSQL', newLedger)
  })
})
