import { randomUUID } from 'node:crypto'
import { type AwardRow, isSameAward } from '../award/row.ts'
import type { AwardFailure, FinalResult, FinalVerdict } from '../award/verdict.ts'
import { type Attempt, isRetryable, type LedgerSession } from '../ledger/ledger.ts'
import type { Query } from './database.ts'
import type { LeaseRenewer } from './lease-renewer.ts'
import type { statements } from './statements.ts'

/** A row of the table of awards. */
interface StoredAward extends AwardRow {
  readonly verdict: FinalVerdict | null
  /** An {@link AwardFailure} as JSON. */
  readonly error: string | null
  /** Whether an attempt has an unknown outcome. */
  readonly in_doubt: boolean
  readonly is_claimed: boolean
  /** Whether the award has the address, campaign and XP of the row in the query. */
  readonly is_same: boolean
  readonly lease_left_ms: number | null
}

interface PostgresAttempt extends Attempt {
  readonly token: string
}

export interface PostgresSessionParts {
  readonly query: Query
  readonly sql: ReturnType<typeof statements>
  readonly run: string
  readonly leaseMs: number
  readonly leases: LeaseRenewer
}

const MIN_RETRY_MS = 50
const NO_NUL = 'must not contain U+0000, which PostgreSQL cannot store'

/** Opens a session on a ledger in PostgreSQL, for one run or one job. */
export function postgresSession({ query, sql, run, leaseMs, leases }: PostgresSessionParts): LedgerSession {
  /** The rows that this session has seen, by id. */
  const seen = new Map<string, AwardRow>()

  const select = async ({ id, address, pid, xp }: AwardRow): Promise<StoredAward | undefined> => {
    const [stored] = await query(sql.select, run, id, address, pid, xp)
    return stored as StoredAward | undefined
  }

  return {
    async claim(row, retryable, isRetry) {
      const { id, address, pid, xp } = row
      for (const name of ['id', 'pid'] as const) {
        if (row[name].includes('\0')) return { kind: 'invalid', issue: { path: [name], message: NO_NUL } }
      }
      const earlier = isRetry ? undefined : seen.get(id)
      if (earlier !== undefined) {
        return isSameAward(row, earlier) ? { kind: 'duplicate' } : { kind: 'conflict', known: earlier }
      }
      seen.set(id, row)

      const token = randomUUID()
      const { rejected, unconfirmed } = retryable
      const [claimed] = await query(sql.claim, run, id, address, pid, xp, token, leaseMs, rejected, unconfirmed)
      if (claimed !== undefined) {
        leases.add({ id, token })
        const { in_doubt: isInDoubt, verdict } = claimed as unknown as StoredAward
        const attempt: PostgresAttempt = { row, token, isInDoubt, previousVerdict: verdict ?? undefined }
        return { kind: 'claimed', attempt }
      }
      const stored = await select(row)
      if (stored === undefined) return { kind: 'busy', retryMs: MIN_RETRY_MS }
      if (!stored.is_same) return { kind: 'conflict', known: rowOf(stored) }
      if (stored.is_claimed) return { kind: 'busy', retryMs: Math.max(MIN_RETRY_MS, stored.lease_left_ms ?? 0) }
      const result = finalResultOf(stored)
      // Another process may have released the claim between the two statements.
      const isFree = result === undefined || isRetryable(result, retryable)
      return isFree ? { kind: 'busy', retryMs: MIN_RETRY_MS } : { kind: 'settled', ...result }
    },

    async settle(attempt, verdict, failure) {
      const { row, token } = attempt as PostgresAttempt
      const error = failure === undefined ? '' : JSON.stringify(failure)
      try {
        const written = await query(sql.settle, run, row.id, token, verdict, error)
        if (written.length > 0) return verdict
      } finally {
        leases.remove({ id: row.id, token })
      }
      const stored = await select(row)
      return stored === undefined || stored.is_claimed ? 'busy' : (stored.verdict ?? 'indeterminate')
    },

    async release(attempt) {
      const { row, token } = attempt as PostgresAttempt
      leases.remove({ id: row.id, token })
      await query(sql.release, run, row.id, token)
    },

    async lookUp(row, isRetry) {
      const stored = await select(row)
      // Read `seen` after the query: two equal rows may be looked up at once.
      const earlier = isRetry ? undefined : seen.get(row.id)
      if (earlier !== undefined && isSameAward(row, earlier)) return 'duplicate'
      if (!stored?.is_same || stored.is_claimed) return undefined
      seen.set(row.id, row)
      const failure = failureOf(stored)
      return finalResultOf(stored) ?? (stored.in_doubt ? { verdict: 'indeterminate', failure } : undefined)
    },

    async findConflict(row) {
      const stored = await select(row)
      return stored === undefined || stored.is_same ? undefined : rowOf(stored)
    },

    checkLock: () => undefined,

    // The partner owns the pool.
    close: async () => undefined,
  }
}

const failureOf = ({ error }: StoredAward): AwardFailure | undefined =>
  error === null ? undefined : (JSON.parse(error) as AwardFailure)

const finalResultOf = (stored: StoredAward): FinalResult | undefined =>
  stored.verdict === null ? undefined : { verdict: stored.verdict, failure: failureOf(stored) }

/** A pool may be configured to read numbers as text. */
const rowOf = ({ id, address, pid, xp }: StoredAward): AwardRow => ({ id, address, pid, xp: Number(xp) })
