import { randomUUID } from 'node:crypto'
import type { AwardRow } from '../award/row.ts'
import type { AwardFailure, Verdict } from '../award/verdict.ts'
import { AwardIndex } from '../ledger/award-index.ts'
import { type Attempt, isReopened, type LedgerSession } from '../ledger/ledger.ts'
import type { AwardTable } from './award-table.ts'

interface SharedAttempt extends Attempt {
  readonly token: string
}

/** How soon to look again at an award that was free, and not any more, or the other way round. */
const SOON_MS = 50
const NUL = '\0'

/** A ledger in a database, in use by one run or one job of many. */
export function sharedSession(table: AwardTable): LedgerSession {
  /** What this run has met; made when the first row of a list comes. */
  let seen: AwardIndex | undefined

  const meet = (row: AwardRow): 'duplicate' | 'conflict' | undefined => {
    seen ??= new AwardIndex()
    const found = seen.seek(row)
    if (found !== -1) return seen.isBound(found) ? 'duplicate' : 'conflict'
    seen.add()
    return undefined
  }

  return {
    async begin(row, reopening, again) {
      for (const name of ['id', 'pid'] as const) {
        if (row[name].includes(NUL)) return { kind: 'unfit', issue: { path: [name], message: NO_NUL } }
      }
      const met = again ? undefined : meet(row)
      if (met !== undefined) return { kind: met }

      const token = randomUUID()
      const begun = await table.begin({ ...row, token }, reopening)
      if (begun !== undefined) {
        const { doubtful, verdict } = begun
        const attempt: SharedAttempt = { row, token, doubtful, reopened: verdict ?? undefined }
        return { kind: 'begun', attempt }
      }
      const stored = await table.read(row)
      if (stored === undefined) return { kind: 'busy', retryMs: SOON_MS }
      if (!stored.same) return { kind: 'conflict' }
      if (stored.open) return { kind: 'busy', retryMs: Math.max(SOON_MS, stored.remaining ?? 0) }
      const isFree = stored.verdict === null || isReopened(stored.verdict, reopening)
      return isFree ? { kind: 'busy', retryMs: SOON_MS } : { kind: 'settled', verdict: stored.verdict }
    },

    settle(attempt, verdict: Verdict, failure?: AwardFailure) {
      const { row, token } = attempt as SharedAttempt
      const error = failure === undefined ? null : JSON.stringify(failure)
      return table.settle({ id: row.id, token, verdict, error })
    },

    release(attempt) {
      const { row, token } = attempt as SharedAttempt
      return table.release({ id: row.id, token })
    },

    async recall(row) {
      if (meet(row) === 'duplicate') return 'duplicate'
      const stored = await table.read(row)
      if (!stored?.same || stored.open) return undefined
      return stored.verdict ?? (stored.doubtful ? 'indeterminate' : undefined)
    },

    async contradicts(row) {
      const stored = await table.read(row)
      return stored !== undefined && !stored.same
    },

    find: (id) => table.read({ id }),

    // Nothing is kept open: the pool is the partner's.
    close: async () => undefined,
  }
}

const NO_NUL = 'must not hold U+0000, which PostgreSQL can not store'
