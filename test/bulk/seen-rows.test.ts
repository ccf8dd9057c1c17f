import { type AwardRow, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { expect, test } from 'vitest'
import { SeenRows } from '../../src/bulk/seen-rows.ts'
import { award, newPath, setup, stopErrorOf } from './fixtures.ts'

test('a row is new once, then a duplicate, and a conflict with another address, campaign or XP', () => {
  const seen = new SeenRows()
  expect(seen.add(award(1))).toBe('new')
  expect(seen.add(award(1))).toBe('duplicate')
  expect(seen.add(award(1, { address: award(1).address.toUpperCase().replace('0X', '0x') }))).toBe('duplicate')
  expect(seen.add(award(1, { address: award(2).address }))).toBe('conflict')
  expect(seen.add(award(1, { pid: 'other' }))).toBe('conflict')
  expect(seen.add(award(1, { xp: 2.5 }))).toBe('conflict')
  expect(seen.add(award(2))).toBe('new')
})

test('thousands of rows are each new once, then a duplicate', () => {
  const seen = new SeenRows()
  const rows = Array.from({ length: 5_000 }, (_, index) => award(index))
  expect(new Set(rows.map((row) => seen.add(row)))).toEqual(new Set(['new']))
  expect(new Set(rows.map((row) => seen.add(row)))).toEqual(new Set(['duplicate']))
})

test('a row that contradicts an earlier row stops the run even if the ledger has no row', async () => {
  const { client, sent } = setup()
  // The first row is released again: nothing was sent.
  const releasing = {
    async rewardWallet(row: AwardRow) {
      if (row.id === 'award-0') await client.with({ guard: { campaigns: [] } }).rewardWallet(row)
      else await client.rewardWallet(row)
    },
  }
  const rows = [award(0), award(1), award(0, { xp: 7 })]
  const options = { ledger: fileLedger(newPath()), concurrency: 1 }
  const { cause, message } = await stopErrorOf(rewardWallets(releasing, rows, options))
  expect(message).toContain('a row contradicts the ledger or an earlier row')
  expect(cause).toMatchObject({
    issues: [{ path: ['rows', 2, 'id'], message: expect.stringContaining('an earlier row with another address') }],
  })
  expect(sent()).toBe(1)
})
