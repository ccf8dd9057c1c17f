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

test('a run takes either ledger, and rows of any iterable', () => {
  expectTypeOf(rewardWallets(client, [row], { ledger: file })).toEqualTypeOf<Promise<AwardReport>>()
  expectTypeOf(rewardWallets(client, new Set([row]), { ledger: shared })).toEqualTypeOf<Promise<AwardReport>>()
  async function* rows() {
    yield row
  }
  expectTypeOf(rewardWallets).toBeCallableWith(client, rows(), { ledger: file, signal: undefined })
  // @ts-expect-error There is no run without a ledger.
  void rewardWallets(client, [row], {})
})

test('one award as a job takes a ledger that processes can share, and no file', () => {
  expectTypeOf(awardOne(client, row, { ledger: shared })).toEqualTypeOf<Promise<FinalVerdict>>()
  // @ts-expect-error A file belongs to one process at a time.
  void awardOne(client, row, { ledger: file })
})

test('any object with rewardWallet is a client', () => {
  expectTypeOf(awardOne).toBeCallableWith({ rewardWallet: async () => undefined }, row, { ledger: shared })
})

test('both clients of PostgreSQL fit', () => {
  expectTypeOf(postgresLedger).toBeCallableWith(postgres('postgres://localhost', { prepare: false }), { run: 'launch' })
})

test('entries come one after the other, or all at once', async () => {
  expectTypeOf(await readLedger('awards.ledger')).toEqualTypeOf<LedgerEntry[]>()
  for await (const entry of readLedger('awards.ledger')) expectTypeOf(entry).toEqualTypeOf<LedgerEntry>()
})
