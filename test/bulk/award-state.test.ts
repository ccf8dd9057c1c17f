import { DatabaseSync } from 'node:sqlite'
import { type AwardRow, fileLedger } from 'campaign-client/bulk'
import { describe, expect, test } from 'vitest'
import {
  type AwardState,
  claimAward,
  completeAward,
  releaseAward,
  resultOf,
} from '../../src/bulk/ledger/award-state.ts'
import { LEDGER } from '../../src/bulk/ledger/ledger.ts'
import { ENDS, RETRYABLE, STATES, shown } from './award-states.ts'
import { award, newPath } from './fixtures.ts'

const REFUSED = { code: 'bad_request', message: 'refused' }
const EVIDENCE_FAILED = { code: 'evidence_failed', message: 'confirm threw' }
const state = (changes: Partial<AwardState>): AwardState => ({
  verdict: undefined,
  failure: undefined,
  isInDoubt: false,
  claim: 'none',
  ...changes,
})

describe('the rule for the state of an award', () => {
  const none = { rejected: false, unconfirmed: false }
  const all = { rejected: true, unconfirmed: true }
  const otherAmount = { code: 'other_amount', message: '' }

  test.each([
    [undefined, none, 'claimed: no verdict, held'],
    [state({ isInDoubt: true }), none, 'claimed: no verdict, in doubt, held'],
    [state({ verdict: 'awarded' }), all, 'done: awarded'],
    [state({ verdict: 'alreadyAwarded' }), all, 'done: alreadyAwarded'],
    [state({ verdict: 'unconfirmed', isInDoubt: true }), none, 'done: unconfirmed'],
    [state({ verdict: 'unconfirmed', isInDoubt: true }), all, 'claimed: unconfirmed, in doubt, held'],
    [state({ verdict: 'rejected' }), none, 'done: rejected'],
    [state({ verdict: 'rejected' }), all, 'claimed: no verdict, held'],
    [state({ failure: EVIDENCE_FAILED }), none, 'claimed: no verdict, held'],
    [state({ verdict: 'rejected', failure: otherAmount }), all, 'done: rejected'],
    [state({ claim: 'held' }), all, 'busy'],
    [state({ claim: 'expired' }), none, 'claimed: no verdict, in doubt, held'],
    [state({ failure: REFUSED, claim: 'expired' }), none, 'claimed: no verdict, in doubt, held'],
  ])('a claim of %j with %j: %s', (stored, retryable, expected) => {
    const claim = claimAward(stored, retryable)
    const text = {
      claimed: `: ${'stored' in claim && shown(claim.stored)}`,
      done: `: ${'verdict' in claim && claim.verdict}`,
    }
    expect(claim.state + (claim.state === 'busy' ? '' : text[claim.state])).toBe(expected)
  })

  const mine = { isInDoubt: false, holdsClaim: true }
  const lost = { isInDoubt: false, holdsClaim: false }
  const held = state({ claim: 'held' })
  const heldInDoubt = state({ isInDoubt: true, claim: 'held' })
  test.each([
    [held, mine, 'awarded', 'awarded: awarded'],
    [held, mine, 'alreadyAwarded', 'alreadyAwarded: alreadyAwarded'],
    [held, mine, 'rejected', 'rejected: rejected'],
    [held, mine, 'unconfirmed', 'unconfirmed: unconfirmed, in doubt'],
    [held, mine, 'indeterminate', 'indeterminate: no verdict, in doubt'],
    // It came in doubt during the attempt.
    [heldInDoubt, mine, 'rejected', 'unconfirmed: unconfirmed, in doubt'],
    [heldInDoubt, { ...mine, isInDoubt: true }, 'rejected', 'rejected: rejected'],
    [state({ claim: 'expired' }), mine, 'rejected', 'rejected: rejected'],
    [undefined, lost, 'awarded', 'awarded: awarded'],
    [state({ verdict: 'rejected' }), lost, 'awarded', 'awarded: awarded'],
    [held, lost, 'awarded', 'awarded: awarded'],
    [undefined, lost, 'indeterminate', 'indeterminate: no verdict, in doubt'],
    [undefined, lost, 'rejected', 'busy: no verdict, in doubt'],
    [held, lost, 'indeterminate', 'busy: no verdict, in doubt, held'],
    [held, lost, 'rejected', 'busy: no verdict, held'],
    [state({ verdict: 'rejected' }), lost, 'unconfirmed', 'unconfirmed: unconfirmed, in doubt'],
    [state({ verdict: 'rejected' }), lost, 'rejected', 'rejected: rejected'],
    [state({ verdict: 'awarded' }), lost, 'indeterminate', 'awarded: awarded'],
    [state({ verdict: 'alreadyAwarded' }), lost, 'unconfirmed', 'alreadyAwarded: alreadyAwarded'],
  ] as const)('%j completed by %j as %s: %s', (stored, attempt, verdict, expected) => {
    const completed = completeAward(stored, attempt, verdict, undefined)
    expect(`${completed.result}: ${shown(completed.stored)}`).toBe(expected)
  })

  test.each([
    [undefined, 'alreadyAwarded, because used before'],
    [heldInDoubt, 'alreadyAwarded'],
  ])('an id that was used before, of %j that is claimed: %s', (came, expected) => {
    const failure = { code: 'used_before', message: '' }
    const { stored } = completeAward(came ?? held, mine, 'alreadyAwarded', failure)
    expect(shown(stored) + (stored.failure === undefined ? '' : ', because used before')).toBe(expected)
  })

  const wasRejected = { ...mine, previousVerdict: 'rejected' } as const
  test.each<[AwardState | undefined, Parameters<typeof releaseAward>[1], string]>([
    [held, mine, 'nothing'],
    [heldInDoubt, { ...mine, isInDoubt: true }, 'no verdict, in doubt'],
    [state({ failure: EVIDENCE_FAILED, claim: 'held' }), mine, 'no verdict'],
    [state({ failure: REFUSED, claim: 'held' }), wasRejected, 'rejected'],
    // It came in doubt during the attempt.
    [state({ failure: REFUSED, isInDoubt: true, claim: 'held' }), wasRejected, 'unconfirmed, in doubt'],
    [undefined, lost, 'nothing'],
    [undefined, { ...lost, isInDoubt: true }, 'no verdict, in doubt'],
    [held, lost, 'no verdict, held'],
    [held, { ...lost, isInDoubt: true }, 'no verdict, in doubt, held'],
    [state({ verdict: 'awarded' }), { ...lost, isInDoubt: true }, 'awarded'],
  ])('%j released by %j: %s', (stored, attempt, expected) => {
    expect(shown(releaseAward(stored, attempt))).toBe(expected)
  })

  test.each([
    [held, mine, 'no verdict'],
    [held, wasRejected, 'no verdict'],
    [heldInDoubt, mine, 'no verdict, in doubt'],
    [undefined, lost, 'nothing'],
  ])('%j released by %j, because confirm failed: %s', (stored, attempt, expected) => {
    const left = releaseAward(stored, attempt, EVIDENCE_FAILED)
    expect(shown(left)).toBe(expected)
    if (left !== undefined) expect(resultOf(left)).toEqual({ verdict: 'indeterminate', failure: EVIDENCE_FAILED })
  })

  test.each(STATES.filter((stored) => stored?.verdict === 'awarded' && stored.claim === 'none' && !stored.isInDoubt))(
    'nothing changes an award that is recorded as awarded: %j',
    (stored) => {
      for (const retryable of RETRYABLE)
        expect(claimAward(stored, retryable)).toMatchObject({ state: 'done', verdict: 'awarded' })
      for (const isInDoubt of [false, true]) {
        const attempt = { isInDoubt, holdsClaim: false }
        for (const { verdict, failure } of ENDS) {
          const left = verdict
            ? completeAward(stored, attempt, verdict, failure).stored
            : releaseAward(stored, attempt, failure)
          expect(left?.verdict).toBe('awarded')
        }
      }
    },
  )
})

/** An award and its state. */
interface Case {
  readonly row: AwardRow
  readonly stored: AwardState | undefined
}

/** The columns of the state, as docs/award-ledger.md lists them. A claim is not stored: its award has no verdict. */
const columnsOf = (stored: AwardState | undefined) => {
  if (stored === undefined) return undefined
  const { verdict, failure, isInDoubt } = stored.claim === 'none' ? stored : { isInDoubt: true }
  return {
    verdict: verdict ?? null,
    in_doubt: Number(isInDoubt),
    error: failure === undefined ? null : JSON.stringify(failure),
  }
}

/** Creates a ledger with these awards. */
async function ledgerWith(cases: readonly Case[]) {
  const path = newPath()
  await (await fileLedger(path)[LEDGER].open(undefined)).close()
  const database = new DatabaseSync(path)
  const insert = database.prepare('INSERT INTO awards VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1)')
  for (const { row, stored } of cases) {
    const columns = columnsOf(stored)
    if (columns === undefined) continue
    insert.run(row.id, row.address, row.pid, row.xp, columns.verdict, columns.in_doubt, columns.error)
  }
  database.close()
  return {
    session: await fileLedger(path)[LEDGER].open(undefined),
    /** Reads the state of each award from the file. */
    read() {
      const file = new DatabaseSync(path, { readOnly: true })
      const select = file.prepare('SELECT verdict, in_doubt, error FROM awards WHERE id = ?')
      const found = cases.map(({ row }) => select.get(row.id))
      file.close()
      return found.map((columns) => (columns === undefined ? undefined : { ...columns }))
    },
  }
}

/** Returns a state as the file has it: the file has no claims. An attempt that was killed left its award in doubt. */
const asRead = (stored: AwardState | undefined): AwardState | undefined =>
  stored?.claim === 'expired' ? { verdict: undefined, failure: undefined, isInDoubt: true, claim: 'none' } : stored

/** The states that a file can have when a run opens it: no other attempt is under way. */
const FILE_STATES = STATES.filter((stored) => stored?.claim !== 'held')

describe('the ledger in a file follows the rule in every state', () => {
  test.each(RETRYABLE)('for a claim with %j', async (retryable) => {
    const cases = FILE_STATES.map((stored, number) => ({ row: award(number), stored }))
    const { session, read } = await ledgerWith(cases)
    const expected = []
    for (const { row, stored } of cases) {
      const known = asRead(stored)
      expect(await session.lookUp(row), shown(stored)).toEqual(known && resultOf(known))
      const { state: end, ...model } = claimAward(known, retryable)
      const claim = await session.claim(row, retryable)
      expect(claim.state, shown(stored)).toBe(end)
      if (claim.state === 'claimed' && 'stored' in model) {
        const { previousVerdict } = model
        const { isInDoubt } = model.stored
        expect(claim.attempt, shown(stored)).toMatchObject({ row, isInDoubt, previousVerdict })
        expected.push(columnsOf(model.stored))
      } else {
        expect(claim, shown(stored)).toEqual({ state: end, ...model })
        expected.push(columnsOf(stored))
      }
    }
    await session.close()
    expect(read()).toEqual(expected)
  })

  test.each(ENDS)('for an attempt that ends with %j', async ({ verdict, failure }) => {
    const cases = FILE_STATES.map((stored, number) => ({ row: award(number), stored }))
    const { session, read } = await ledgerWith(cases)
    const expected = []
    for (const { row, stored } of cases) {
      const claim = await session.claim(row, { rejected: true, unconfirmed: true })
      const model = claimAward(asRead(stored), { rejected: true, unconfirmed: true })
      if (claim.state !== 'claimed' || model.state !== 'claimed') {
        expected.push(columnsOf(stored))
        continue
      }
      const { isInDoubt, previousVerdict } = claim.attempt
      const attempt = { isInDoubt, previousVerdict, holdsClaim: true }
      if (verdict === undefined) {
        await session.release(claim.attempt, failure)
        expected.push(columnsOf(releaseAward(model.stored, attempt, failure)))
      } else {
        const completed = completeAward(model.stored, attempt, verdict, failure)
        expect(await session.complete(claim.attempt, verdict, failure), shown(stored)).toBe(completed.result)
        expected.push(columnsOf(completed.stored))
      }
    }
    await session.close()
    expect(read()).toEqual(expected)
  })
})
