import { memoryStore } from 'campaign-client/webhook'
import { describe } from 'vitest'
import { durationContract, storeContract } from './contract.ts'

describe('memoryStore', () => {
  const store = memoryStore()
  storeContract(() => store)
  durationContract(() => store)
})
