import { fileLedger } from 'campaign-client/bulk'
import { describe } from 'vitest'
import { newPath } from './fixtures.ts'
import { ledgerContract } from './ledger-contract.ts'

describe('the ledger in a file', () => {
  ledgerContract(() => {
    const path = newPath()
    return (options) => fileLedger(path, options)
  })
})
