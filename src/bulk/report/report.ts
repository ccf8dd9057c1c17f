import type { AwardFailure, Verdict } from '../award/verdict.ts'
import type { PerVerdict } from './totals.ts'

/** The report of a run of awards. It can be stored as JSON. */
export interface AwardReport {
  /** The version of this format. */
  readonly version: 1
  /** The number of rows that were read. */
  readonly rows: number
  /** The number of rows per verdict, including the verdicts of earlier runs with the same ledger. */
  readonly counts: PerVerdict
  /** The XP of those rows. An invalid row counts with its `xp` if that is a number. */
  readonly xp: PerVerdict
  /** The number of rows that were not sent because the ledger had their final verdict. */
  readonly fromLedger: number
  /** The first 1 000 rows with a verdict other than `awarded` and `alreadyAwarded`, in the order in which they finished. */
  readonly problems: readonly RowProblem[]
  /** The number of further problems. */
  readonly problemsOmitted: number
  /** The halted campaigns: after a 403 or 404 the other rows of a campaign are not sent. */
  readonly halted: readonly HaltedCampaign[]
  /** The ISO date of the start. */
  readonly startedAt: string
  /** The ISO date of the end. */
  readonly finishedAt: string
  /** Whether all rows were read and each has a final verdict. */
  readonly complete: boolean
}

/** A row whose verdict is neither `awarded` nor `alreadyAwarded`. */
export interface RowProblem {
  /** The position of the row in the list, from 0. */
  readonly index: number
  /** The id of the award, if it is a string. */
  readonly id?: string
  readonly verdict: Exclude<Verdict, 'awarded' | 'alreadyAwarded'>
  /**
   * The reason as a stable code: the code of the recorded failure (see {@link AwardFailure}), `'invalid_request'` for an
   * invalid row, `'in_doubt'` after an earlier attempt with an unknown outcome, `'ledger_failed'` if the ledger could not be
   * written.
   */
  readonly code: string
  /** The reason as text. */
  readonly reason: string
}

/** A campaign whose other rows were not sent: it does not exist, or the token may not use it. */
export interface HaltedCampaign {
  /** Campaign ID. */
  readonly pid: string
  /** The number of its rows without a final verdict. */
  readonly rows: number
  /** The service's answer as text. */
  readonly reason: string
}
