import { expect, test } from 'vitest'
import { progressFormatOf } from '../../../src/cli/award/ask-service.ts'

test('reads the platform from a profile, and whether rewards have amounts', () => {
  expect(progressFormatOf()).toEqual({ platform: 'ethereum', amounts: undefined, isAssumed: true })
  expect(progressFormatOf({ walletPlatform: 'evm' })).toEqual({ platform: 'evm', amounts: undefined, isAssumed: true })
  expect(progressFormatOf({ walletPlatform: 'evm', listsRewards: 'ids' })).toEqual({
    platform: 'evm',
    amounts: false,
    isAssumed: false,
  })
  expect(progressFormatOf({ walletPlatform: 'evm', listsRewards: 'ids_and_amounts' })).toEqual({
    platform: 'evm',
    amounts: true,
    isAssumed: false,
  })
})
