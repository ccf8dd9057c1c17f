import { randomUUID } from 'node:crypto'
import { type AwardRow, isSameAward } from '../award/row.ts'
import type { AwardFailure, FinalVerdict } from '../award/verdict.ts'
import { type Attempt, isReopened, type LedgerSession, type Settled } from '../ledger/ledger.ts'
import type { Query } from './database.ts'
import type { Leases } from './leases.ts'
import type { statements } from './statements.ts'

/** An award as the table has it. */
interface StoredAward extends AwardRow {
  readonly verdict: FinalVerdict | null
  /** An {@link AwardFailure} as JSON. */
  readonly error: string | null
  /** Whether there was an attempt whose outcome is unknown. */
  readonly doubtful: boolean
  /** Whether an attempt holds it. */
  readonly open: boolean
  /** Whether it is the award that was asked about. */
  readonly same: boolean
  /** How long its lease lasts, in milliseconds. */
  readonly remaining: number | null
}

interface SharedAttempt extends Attempt {
  readonly token: string
}

export interface SharedSessionParts {
  readonly query: Query
  readonly sql: ReturnType<typeof statements>
  readonly run: string
  readonly leaseMs: number
  readonly leases: Leases
}

/** How soon to look again at an award that changed hands while it was looked at. */
const SOON_MS = 50
const NO_NUL = 'must not hold U+0000, which PostgreSQL can not store'

/** A ledger in a database, used by one run or one job of many. */
export function sharedSession({ query, sql, run, leaseMs, leases }: SharedSessionParts): LedgerSession {
  /** The rows that this run has met. */
  const seen = new Map<string, AwardRow>()

  const read = async ({ id, address, pid, xp }: AwardRow): Promise<StoredAward | undefined> => {
    const [stored] = await query(sql.state, run, id, address, pid, xp)
    return stored as StoredAward | undefined
  }

  return {
    async begin(row, reopening, isAgain) {
      const { id, address, pid, xp } = row
      for (const name of ['id', 'pid'] as const) {
        if (row[name].includes('\0')) return { kind: 'unfit', issue: { path: [name], message: NO_NUL } }
      }
      const met = isAgain ? undefined : seen.get(id)
      if (met !== undefined) return isSameAward(row, met) ? { kind: 'duplicate' } : { kind: 'conflict', known: met }
      seen.set(id, row)

      const token = randomUUID()
      const { rejected, unconfirmed } = reopening
      const [begun] = await query(sql.begin, run, id, address, pid, xp, token, leaseMs, rejected, unconfirmed)
      if (begun !== undefined) {
        leases.hold({ id, token })
        const { doubtful, verdict } = begun as unknown as StoredAward
        const attempt: SharedAttempt = { row, token, isDoubtful: doubtful, reopened: verdict ?? undefined }
        return { kind: 'begun', attempt }
      }
      const stored = await read(row)
      if (stored === undefined) return { kind: 'busy', retryMs: SOON_MS }
      if (!stored.same) return { kind: 'conflict', known: knownOf(stored) }
      if (stored.open) return { kind: 'busy', retryMs: Math.max(SOON_MS, stored.remaining ?? 0) }
      const settled = settledOf(stored)
      const isFree = settled === undefined || isReopened(settled, reopening)
      return isFree ? { kind: 'busy', retryMs: SOON_MS } : { kind: 'settled', ...settled }
    },

    async settle(attempt, verdict, failure) {
      const { row, token } = attempt as SharedAttempt
      const error = failure === undefined ? '' : JSON.stringify(failure)
      try {
        const written = await query(sql.settle, run, row.id, token, verdict, error)
        if (written.length > 0) return verdict
      } finally {
        leases.letGo({ id: row.id, token })
      }
      const stored = await read(row)
      return stored === undefined || stored.open ? 'open' : (stored.verdict ?? 'indeterminate')
    },

    async release(attempt) {
      const { row, token } = attempt as SharedAttempt
      leases.letGo({ id: row.id, token })
      await query(sql.release, run, row.id, token)
    },

    async recall(row, isAgain) {
      const met = isAgain ? undefined : seen.get(row.id)
      if (met !== undefined && isSameAward(row, met)) return 'duplicate'
      const stored = await read(row)
      if (!stored?.same || stored.open) return undefined
      seen.set(row.id, row)
      const failure = failureOf(stored)
      return settledOf(stored) ?? (stored.doubtful ? { verdict: 'indeterminate', failure } : undefined)
    },

    async conflictOf(row) {
      const stored = await read(row)
      return stored === undefined || stored.same ? undefined : knownOf(stored)
    },

    check: () => undefined,

    // The pool is the partner's.
    close: async () => undefined,
  }
}

const failureOf = ({ error }: StoredAward): AwardFailure | undefined =>
  error === null ? undefined : (JSON.parse(error) as AwardFailure)

const settledOf = (stored: StoredAward): Settled | undefined =>
  stored.verdict === null ? undefined : { verdict: stored.verdict, failure: failureOf(stored) }

/** A pool may read numbers as strings. */
const knownOf = ({ id, address, pid, xp }: StoredAward): AwardRow => ({ id, address, pid, xp: Number(xp) })
