import { CampaignClient } from 'campaign-client'
import {
  type AwardReport,
  awardOne,
  type FinalVerdict,
  fileLedger,
  type LedgerEntry,
  readLedger,
  rewardWallets,
} from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { Pool } from 'pg'
import postgres from 'postgres'
import { expectTypeOf, test } from 'vitest'

const client = new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'a-token' })
const row = { address: '0x', pid: 'demo', id: 'one', xp: 5 }
const file = fileLedger('awards.ledger')
const shared = postgresLedger(new Pool(), { run: 'launch' })

test('rewardWallets accepts both ledgers and any iterable', () => {
  expectTypeOf(rewardWallets(client, [row], { ledger: file })).toEqualTypeOf<Promise<AwardReport>>()
  expectTypeOf(rewardWallets(client, new Set([row]), { ledger: shared })).toEqualTypeOf<Promise<AwardReport>>()
  async function* rows() {
    yield row
  }
  expectTypeOf(rewardWallets).toBeCallableWith(client, rows(), { ledger: file, signal: undefined })
  // @ts-expect-error The ledger is required.
  void rewardWallets(client, [row], {})
})

test('awardOne accepts both ledgers, or none', () => {
  expectTypeOf(awardOne(client, row)).toEqualTypeOf<Promise<FinalVerdict>>()
  expectTypeOf(awardOne).toBeCallableWith(client, row, { ledger: shared })
  expectTypeOf(awardOne).toBeCallableWith(client, row, { ledger: file, confirm: false })
  // @ts-expect-error `true` is no function.
  void awardOne(client, row, { confirm: true })
})

test('any object with rewardWallet is a client', () => {
  expectTypeOf(awardOne).toBeCallableWith({ rewardWallet: async () => undefined }, row, { ledger: shared })
})

test('postgresLedger accepts a client of the postgres package', () => {
  expectTypeOf(postgresLedger).toBeCallableWith(postgres('postgres://localhost', { prepare: false }), { run: 'launch' })
})

test('readLedger gives single entries', async () => {
  for await (const entry of readLedger('awards.ledger')) expectTypeOf(entry).toEqualTypeOf<LedgerEntry>()
})
