import { randomUUID } from 'node:crypto'
import type { AwardRow } from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import type { Pool } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  type AwardState,
  claimAward,
  completeAward,
  releaseAward,
  resultOf,
} from '../../src/bulk/ledger/award-state.ts'
import { type Attempt, LEDGER, type LedgerSession } from '../../src/bulk/ledger/ledger.ts'
import { postgres } from '../databases/postgres.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { ENDS, RETRYABLE, STATES, shown } from './award-states.ts'
import { awardTables } from './award-tables.ts'
import { award } from './fixtures.ts'

const NEW_CLAIM = { rejected: false, unconfirmed: false }

describe.skipIf(skipsWithout('PostgreSQL', postgres.missing))('the ledger in PostgreSQL follows the rule', () => {
  const tables = awardTables()
  let pool: Pool
  let session: LedgerSession
  const run = randomUUID()
  let awards = 0
  const newAward = () => award(awards++)

  beforeAll(async () => {
    pool = tables().pool
    session = await postgresLedger(pool, { run })[LEDGER].open(undefined)
    await session.claim(newAward(), NEW_CLAIM)
  })

  /** Replaces the record of an award. @param token - the attempt that holds the claim, if there is one */
  async function store({ id, address, pid, xp }: AwardRow, stored: AwardState | undefined, token: string) {
    const hash = "sha256(convert_to($2, 'UTF8'))"
    await pool.query(`DELETE FROM campaign_awards WHERE run = $1 AND id_hash = ${hash}`, [run, id])
    if (stored === undefined) return
    const { verdict, failure, isInDoubt, claim } = stored
    await pool.query(
      `INSERT INTO campaign_awards (run, id_hash, id, address, pid, xp, verdict, in_doubt, error, attempt, lease_until)
        VALUES ($1, ${hash}, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        ...[run, id, address, pid, xp, verdict ?? null, isInDoubt, failure ? JSON.stringify(failure) : null],
        ...(claim === 'none' ? [null, null] : [token, claim === 'held' ? '2100-01-01' : '2000-01-01']),
      ],
    )
  }

  /** Reads the record of an award. */
  async function read({ id }: AwardRow): Promise<AwardState | undefined> {
    const text = `SELECT verdict, error, in_doubt, attempt, lease_until < now() AS expired
      FROM campaign_awards WHERE run = $1 AND id = $2`
    const [row] = (await pool.query(text, [run, id])).rows
    return row === undefined
      ? undefined
      : {
          verdict: row.verdict ?? undefined,
          failure: row.error === null ? undefined : JSON.parse(row.error),
          isInDoubt: row.in_doubt,
          claim: row.attempt === null ? 'none' : row.expired ? 'expired' : 'held',
        }
  }

  /** Returns an attempt that has just claimed an award, and its token. */
  async function attempting(row: AwardRow, isInDoubt: boolean): Promise<[Attempt, string]> {
    if (isInDoubt) await store(row, { verdict: undefined, failure: undefined, isInDoubt, claim: 'none' }, '')
    const claim = await session.claim(row, NEW_CLAIM)
    if (claim.state !== 'claimed') return expect.unreachable(claim.state)
    expect(claim.attempt.isInDoubt).toBe(isInDoubt)
    const found = await pool.query('SELECT attempt FROM campaign_awards WHERE run = $1 AND id = $2', [run, row.id])
    return [claim.attempt, found.rows[0].attempt]
  }

  test.each(RETRYABLE)('in every state, for a claim with %j', async (retryable) => {
    await Promise.all(
      STATES.map(async (stored) => {
        const row = newAward()
        await store(row, stored, randomUUID())
        expect(await session.lookUp(row), shown(stored)).toEqual(stored && resultOf(stored))
        const model = claimAward(stored, retryable)
        const claim = await session.claim(row, retryable)
        expect(claim.state, shown(stored)).toBe(model.state)
        if (model.state === 'done') expect(claim).toEqual(model)
        if (claim.state === 'claimed' && model.state === 'claimed') {
          const { previousVerdict } = model
          const { isInDoubt } = model.stored
          expect(claim.attempt, shown(stored)).toMatchObject({ row, isInDoubt, previousVerdict })
        }
        expect(await read(row), shown(stored)).toEqual(model.state === 'claimed' ? model.stored : stored)
        if (claim.state === 'claimed') await session.release(claim.attempt)
      }),
    )
  })

  const attempts = [false, true].flatMap((isInDoubt) => [true, false].map((holdsClaim) => ({ isInDoubt, holdsClaim })))
  test.each(attempts.flatMap((attempt) => ENDS.map((end) => ({ ...attempt, ...end }))))(
    'in every state, for an attempt that ends as %j',
    async ({ isInDoubt, holdsClaim, verdict, failure }) => {
      const states = holdsClaim ? STATES.filter((stored) => stored && stored.claim !== 'none') : STATES
      await Promise.all(
        states.map(async (stored) => {
          const row = newAward()
          const [attempt, token] = await attempting(row, isInDoubt)
          await store(row, stored, holdsClaim ? token : randomUUID())
          if (verdict === undefined) {
            await session.release(attempt, failure)
            const model = releaseAward(stored, { isInDoubt, holdsClaim }, failure)
            expect(await read(row), shown(stored)).toEqual(model)
          } else {
            const model = completeAward(stored, { isInDoubt, holdsClaim }, verdict, failure)
            expect(await session.complete(attempt, verdict, failure), shown(stored)).toBe(model.result)
            expect(await read(row), shown(stored)).toEqual(model.stored)
          }
        }),
      )
    },
  )
})
