import { createHash, randomUUID } from 'node:crypto'
import type { CampaignClient } from 'campaign-client'
import {
  type AwardLedger,
  type AwardRow,
  awardOne,
  type Rebind,
  rewardWallets,
  type SharedLedger,
} from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { describe, expect, test } from 'vitest'
import { postgres } from '../databases/postgres.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { awardTables } from './award-tables.ts'
import { award, counts, setup } from './fixtures.ts'

/** A target, as ledgers record it. */
const targetOf = (name: string): string =>
  JSON.stringify({ address: `https://${name}.example/api/v1/`, issuer: null, subject: null })
const HERE = targetOf('here')
const THERE = targetOf('there')
const REBIND = { from: 'https://here.example/api/v1/' }

interface Combination {
  readonly recorded: string | null
  /** `undefined` for an object that is not a `CampaignClient`. */
  readonly current: string | undefined
  readonly rebind: Rebind | undefined
}

const COMBINATIONS: readonly Combination[] = [null, HERE, THERE].flatMap((recorded) => [
  { recorded, current: undefined, rebind: undefined },
  { recorded, current: HERE, rebind: undefined },
  { recorded, current: THERE, rebind: undefined },
  { recorded, current: THERE, rebind: REBIND },
])

const isRefused = ({ recorded, current, rebind }: Combination): boolean =>
  recorded !== null && current !== undefined && recorded !== current && !(rebind && recorded === HERE)

const targetName = (target: string | null | undefined): string =>
  target ? new URL(JSON.parse(target).address).hostname : 'no target'
const label = ({ recorded, current, rebind }: Combination): string =>
  `recorded ${targetName(recorded)}, client with ${targetName(current)}${rebind ? ' and rebind' : ''}`

/** The states of a row before the run, and its verdict after the service has refused its id. */
const ROWS = { new: 'rejected', expired: 'unconfirmed', inDoubt: 'unconfirmed', final: 'awarded' } as const
type State = keyof typeof ROWS | 'live'

/** Returns a client whose service refuses every award with 400, and the number of its requests. */
function refusedClient(current: string | undefined) {
  const { client, service, sent } = setup({ baseUrl: JSON.parse(current ?? HERE).address })
  service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: Infinity })
  const plain = { rewardWallet: (row: AwardRow) => client.rewardWallet(row) }
  const used: Pick<CampaignClient, 'rewardWallet'> = current === undefined ? plain : client
  return { client: used, sent }
}

const row = award(0)
/** Binds the run to its target. */
const other = award(9)

async function expectRun(ledger: AwardLedger, combination: Combination, state: State): Promise<void> {
  const { client, sent } = refusedClient(combination.current)
  const run = rewardWallets(client, [row], { ledger })
  if (isRefused(combination)) {
    await expect(run).rejects.toMatchObject({ code: 'configuration', message: expect.stringContaining('rebind') })
    expect(sent()).toBe(0)
    return
  }
  // A run waits for a live claim until its lease expires.
  const verdict = ROWS[state === 'live' ? 'expired' : state]
  expect((await run).counts).toEqual(counts({ [verdict]: 1 }))
  expect(sent()).toBe(state === 'final' ? 0 : 1)
}

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
          const { open } = Reflect.get(ledger, key)
          const openThenBind = async (target: unknown) => {
            const session = await open(target)
            await tables().pool.query('UPDATE campaign_awards_runs SET target = $2 WHERE run = $1', [ledger.run, THERE])
            return session
          }
          return [key, { open: openThenBind, openForOne: openThenBind }]
        }),
      ),
    })
    const error: unknown = await pending.catch((reason: unknown) => reason)
    const cause = (error as { cause?: unknown }).cause ?? error
    expect(cause).toMatchObject({ code: 'configuration', message: expect.stringContaining('another target') })
  })
})
