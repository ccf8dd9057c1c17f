import { createHash, randomUUID } from 'node:crypto'
import type { CampaignClient } from 'campaign-client'
import { type AwardRow, awardOne, rewardWallets, type SharedLedger } from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { describe, expect, test } from 'vitest'
import { postgres } from '../databases/postgres.ts'
import { skipsWithout } from '../support/skips-without.ts'
import {
  COMBINATIONS,
  type Combination,
  expectRun,
  HERE,
  isRefused,
  label,
  other,
  ROWS,
  refusedClient,
  row,
  type State,
  THERE,
} from './claims-and-targets.ts'
import { setup } from './fixtures.ts'
import { awardTables } from './postgres-ledgers.ts'

describe.skipIf(skipsWithout('PostgreSQL', postgres.missing))('PostgreSQL', () => {
  const tables = awardTables()

  const runWith = async ({ recorded, rebind }: Combination, state: State, leaseMs: number): Promise<SharedLedger> => {
    const { pool } = tables()
    const run = randomUUID()
    await pool.query('INSERT INTO campaign_awards_runs (run, version, target) VALUES ($1, 1, $2)', [run, recorded])
    const insert = (
      { id, address, pid, xp }: AwardRow,
      verdict: string | null,
      inDoubt: boolean,
      attempt: string | null,
      leaseLeftMs: number | null,
    ) =>
      pool.query(
        `INSERT INTO campaign_awards (run, id_hash, id, address, pid, xp, verdict, in_doubt, attempt, lease_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp() + $10::float8 * interval '1 millisecond')`,
        [run, createHash('sha256').update(id).digest(), id, address, pid, xp, verdict, inDoubt, attempt, leaseLeftMs],
      )
    await insert(other, 'awarded', false, null, null)
    if (state === 'inDoubt') await insert(row, null, true, null, null)
    if (state === 'final') await insert(row, 'awarded', false, null, null)
    if (state === 'live') await insert(row, null, false, randomUUID(), leaseMs)
    if (state === 'expired') await insert(row, null, false, randomUUID(), -1)
    return postgresLedger(pool, { run, rebind })
  }
  const recordedTarget = async ({ run }: SharedLedger) =>
    (await tables().pool.query('SELECT target FROM campaign_awards_runs WHERE run = $1', [run])).rows[0].target
  const STATES: readonly State[] = ['new', 'live', 'expired', 'inDoubt', 'final']
  const CASES = COMBINATIONS.map((each) => [label(each), each] as const)

  test.each(CASES)('rewardWallets, %s', async (_, combination) => {
    for (const state of STATES) {
      const ledger = await runWith(combination, state, 1_200)
      await expectRun(ledger, combination, state)
      const isBound = !isRefused(combination) && combination.current !== undefined && state !== 'final'
      expect(await recordedTarget(ledger), state).toBe(
        isBound || (combination.rebind && !isRefused(combination)) ? combination.current : combination.recorded,
      )
    }
  })

  test.each(CASES)('awardOne, %s', async (_, combination) => {
    for (const state of STATES) {
      const ledger = await runWith(combination, state, 60_000)
      const { client, sent } = refusedClient(combination.current)
      const made = awardOne(client, row, { ledger })
      if (isRefused(combination)) await expect(made).rejects.toMatchObject({ code: 'configuration' })
      else if (state === 'live') await expect(made).rejects.toMatchObject({ reason: 'busy' })
      else expect(await made, state).toBe(ROWS[state])
      const isSent = !isRefused(combination) && state !== 'live' && state !== 'final'
      expect(sent(), state).toBe(isSent ? 1 : 0)
    }
  })

  test.each([
    ['rewardWallets', (client: CampaignClient, ledger: SharedLedger) => rewardWallets(client, [row], { ledger })],
    ['awardOne', (client: CampaignClient, ledger: SharedLedger) => awardOne(client, row, { ledger })],
  ])('%s is refused, and does not wait, if the run is bound to another target after it was opened', async (_, make) => {
    const combination = { recorded: null, current: HERE, rebind: undefined }
    const ledger = await runWith(combination, 'live', 60_000)
    const { client } = setup({ baseUrl: JSON.parse(HERE).address })
    const pending = make(client, {
      ...ledger,
      ...Object.fromEntries(
        Object.getOwnPropertySymbols(ledger).map((key) => {
          const { open, check } = Reflect.get(ledger, key)
          const openThenBind = async (target: unknown) => {
            const session = await open(target)
            await tables().pool.query('UPDATE campaign_awards_runs SET target = $2 WHERE run = $1', [ledger.run, THERE])
            return session
          }
          return [key, { check, open: openThenBind, openForOne: openThenBind }]
        }),
      ),
    })
    const error: unknown = await pending.catch((reason: unknown) => reason)
    const cause = (error as { cause?: unknown }).cause ?? error
    expect(cause).toMatchObject({ code: 'configuration', message: expect.stringContaining('another target') })
  })
})
