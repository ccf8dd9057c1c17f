import { fileLedger } from 'campaign-client/bulk'
import { test } from 'vitest'
import { runScenarios } from './agreement.ts'
import { entriesOf, newPath } from './fixtures.ts'

test('the counts of every report agree with the ledger in a file, for every row that was read', async () => {
  await runScenarios('agreement, file', () => {
    const path = newPath()
    return { open: () => fileLedger(path), read: () => entriesOf(path) }
  })
})
