import type { AwardRow } from '../../award/row.ts'
import type { AwardFailure, Verdict } from '../../award/verdict.ts'
import type { AwardIndex } from '../award-index.ts'
import { type Attempt, type Beginning, isReopened, type LedgerSession } from '../ledger.ts'
import { afterIntent, afterRelease, afterVerdict, BOUND, DOUBT, SEEN, verdictOf } from '../state.ts'
import type { GroupWriter } from './group-writer.ts'
import { intentLine, releasedLine, verdictLine } from './lines.ts'

/** The parts of an open ledger that a session works with. */
export interface SessionParts {
  readonly index: AwardIndex
  readonly writer: GroupWriter
  /** Looks through the file for what an id is bound to. */
  find(id: string): Promise<AwardRow | undefined>
  close(): Promise<void>
}

interface FileAttempt extends Attempt {
  readonly entry: number
  /** Whether an intent was written for it. */
  readonly written: boolean
}

/** A ledger in a file, in use by the one run that holds its lock. */
export function fileSession({ index, writer, find, close }: SessionParts): LedgerSession {
  const begun = (entry: number, row: AwardRow, before: number, reopened: Attempt['reopened']): Beginning => ({
    kind: 'begun',
    attempt: { entry, row, doubtful: (before & DOUBT) !== 0, reopened, written: false } as FileAttempt,
  })

  const intend = async (entry: number, row: AwardRow, reopened: Attempt['reopened']): Promise<Beginning> => {
    await writer.append(intentLine(row))
    return {
      kind: 'begun',
      attempt: { entry, row, doubtful: false, reopened, written: true } as FileAttempt,
    }
  }

  return {
    begin(row, reopening, again) {
      const found = index.seek(row)
      if (found === -1) {
        const entry = index.add()
        index.setState(entry, afterIntent(SEEN))
        return intend(entry, row, undefined)
      }
      const state = index.state(found)
      const bound = (state & BOUND) !== 0
      // Also where an earlier row of this list was begun and taken back.
      if ((state & (BOUND | SEEN)) !== 0 && !index.isBound(found)) return { kind: 'conflict' }
      if ((state & SEEN) !== 0 && !again) return { kind: 'duplicate' }
      index.setState(found, state | SEEN)
      const verdict = verdictOf(state)
      if (verdict !== undefined && !isReopened(verdict, reopening)) return { kind: 'settled', verdict }
      // An attempt whose end nobody knows stands in the ledger already. It binds the id, whatever becomes of this one.
      if ((state & DOUBT) !== 0) return begun(found, row, state, verdict)
      if (!bound) index.bind(found)
      index.setState(found, afterIntent(state | SEEN))
      return intend(found, row, verdict)
    },

    async settle(attempt, verdict: Verdict, failure?: AwardFailure) {
      const { entry, row } = attempt as FileAttempt
      await writer.append(verdictLine(row.id, verdict, failure))
      index.setState(entry, afterVerdict(index.state(entry), verdict))
      return verdict
    },

    async release(attempt) {
      const { entry, row, written } = attempt as FileAttempt
      if (!written) return
      await writer.append(releasedLine(row.id))
      index.setState(entry, afterRelease(index.state(entry)))
    },

    recall(row) {
      const found = index.seek(row)
      if (found === -1 || !index.isBound(found)) return undefined
      const state = index.state(found)
      if ((state & BOUND) === 0) return undefined
      if ((state & SEEN) !== 0) return 'duplicate'
      index.setState(found, state | SEEN)
      return verdictOf(state) ?? ((state & DOUBT) !== 0 ? 'indeterminate' : undefined)
    },

    contradicts(row) {
      const found = index.seek(row)
      return found !== -1 && (index.state(found) & BOUND) !== 0 && !index.isBound(found)
    },

    async find(id) {
      await writer.idle()
      return find(id)
    },

    close,
  }
}
