import type { AwardFailure, AwardRow, Verdict } from 'campaign-client/bulk'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { RetryableVerdicts } from '../../src/bulk/ledger/award-state.ts'
import { type Attempt, LEDGER, type LedgerSession } from '../../src/bulk/ledger/ledger.ts'
import { SharedLedgerModel } from './shared-ledger.ts'

/** An attempt in the model and in the ledger under test. */
interface Pair {
  readonly model: Attempt
  readonly real: Attempt
}

interface Model {
  readonly session: LedgerSession
  readonly expire: (id: string) => void
  /** The attempts that have not ended. */
  readonly attempts: Pair[]
}

/** A ledger under test. */
export interface RealLedger {
  readonly session: LedgerSession
  /** Ends the lease of an award. */
  readonly expire: (id: string) => Promise<unknown>
}

type Command = fc.AsyncCommand<Model, RealLedger, boolean>

const shown = ({ row: _, ...attempt }: Partial<Attempt>) => ({
  isInDoubt: attempt.isInDoubt,
  previousVerdict: attempt.previousVerdict,
})

const claim = (row: AwardRow, retryable: RetryableVerdicts): Command => ({
  check: () => true,
  toString: () => `claim ${row.id} of ${row.xp} XP with ${JSON.stringify(retryable)}`,
  async run({ session, attempts }, real) {
    const expected = await session.claim(row, retryable)
    const claimed = await real.session.claim(row, retryable)
    expect(claimed.state).toBe(expected.state)
    if (expected.state === 'claimed' && claimed.state === 'claimed') {
      expect(shown(claimed.attempt)).toEqual(shown(expected.attempt))
      attempts.push({ model: expected.attempt, real: claimed.attempt })
    } else if (expected.state !== 'busy') expect(claimed).toEqual(expected)
  },
})

const REFUSED: AwardFailure = { code: 'bad_request', status: 400, message: 'refused' }
const UNDECIDED: AwardFailure = { code: 'evidence_failed', message: 'confirm threw' }

/** Ends an attempt. @param verdict - `undefined` to release its claim; with a failure, the award is undecided */
const end = (index: number, verdict: Verdict | undefined, failure: AwardFailure | undefined): Command => ({
  check: ({ attempts }) => attempts.length > 0,
  toString: () => `end attempt ${index} as ${verdict}`,
  async run({ session, attempts }, real) {
    const [attempt] = attempts.splice(index % attempts.length, 1) as [Pair]
    if (verdict === undefined) {
      const reason = failure && UNDECIDED
      await Promise.all([session.release(attempt.model, reason), real.session.release(attempt.real, reason)])
      return
    }
    // A rejected award has a failure.
    const reason = verdict === 'rejected' ? (failure ?? REFUSED) : failure
    expect(await real.session.complete(attempt.real, verdict, reason)).toBe(
      await session.complete(attempt.model, verdict, reason),
    )
  },
})

const lookUp = (row: AwardRow): Command => ({
  check: () => true,
  toString: () => `look up ${row.id} of ${row.xp} XP`,
  async run({ session }, real) {
    expect(await real.session.lookUp(row)).toEqual(await session.lookUp(row))
    expect(await real.session.findConflict(row)).toEqual(await session.findConflict(row))
  },
})

const expire = (id: string): Command => ({
  check: () => true,
  toString: () => `expire the claim of ${id}`,
  async run(model, real) {
    model.expire(id)
    await real.expire(id)
  },
})

/** Compares a ledger with the model of the simulated world, for random commands. @param open - returns an empty ledger */
export async function expectLedgerFollowsModel(open: () => Promise<RealLedger>, numRuns: number): Promise<void> {
  const row = fc
    .record({ id: fc.constantFrom('one', 'two'), xp: fc.constantFrom(10, 10, 10, 20) })
    .map(({ id, xp }) => ({ address: `0x${'a'.repeat(40)}`, pid: 'pid', id, xp }))
  const verdict = fc.constantFrom<Verdict | undefined>(
    undefined,
    'awarded',
    'alreadyAwarded',
    'unconfirmed',
    'rejected',
    'indeterminate',
  )
  const failure = fc.constantFrom<AwardFailure | undefined>(undefined, REFUSED, {
    code: 'other_amount',
    message: 'another amount',
  })
  const commands = fc.commands<Model, RealLedger, boolean>(
    [
      fc
        .tuple(row, fc.record({ rejected: fc.boolean(), unconfirmed: fc.boolean() }))
        .map(([r, retryable]) => claim(r, retryable)),
      fc.tuple(fc.nat(5), verdict, failure).map(([index, v, f]) => end(index, v, f)),
      row.map(lookUp),
      row.map(({ id }) => expire(id)),
    ],
    { size: '+1' },
  )
  const property = fc.asyncProperty(commands, async (drawn) => {
    const real = await open()
    const shared = new SharedLedgerModel()
    const ports = { now: () => 1, token: () => crypto.randomUUID(), send: async <T>(statement: () => T) => statement() }
    const session = await shared.ledger(ports)[LEDGER].open(undefined)
    const attempts: Pair[] = []
    const expireModel = (id: string): void => {
      const stored = shared.awards.get(id)
      if (stored) shared.awards.set(id, { ...stored, leaseUntil: 0 })
    }
    try {
      const model = { session, attempts, expire: expireModel }
      await fc.asyncModelRun(() => ({ model, real }), drawn)
    } finally {
      // Ends their timers.
      for (const { model, real: attempt } of attempts)
        await Promise.all([session.release(model), real.session.release(attempt)])
    }
  })
  await fc.assert(property, { numRuns })
}
