import type { AwardFailure, Verdict } from '../award/verdict.ts'
import type { PerVerdict } from './tally.ts'

/** What became of a list of awards. It can be stored as JSON. */
export interface AwardReport {
  /** The version of this format. */
  readonly version: 1
  /** How many rows were read from the list. */
  readonly rows: number
  /** How many of them have which verdict, from this run or an earlier one with the same ledger. */
  readonly counts: PerVerdict
  /** The XP of those rows. A wrong row counts with its `xp` where that is a number. */
  readonly xp: PerVerdict
  /** How many rows already had their final verdict in the ledger, and were not sent. */
  readonly fromLedger: number
  /** Rows that were not certainly awarded, with the reason, in the order in which they were found: at most 1 000. */
  readonly problems: readonly RowProblem[]
  /** How many more problems there were. */
  readonly problemsOmitted: number
  /** Campaigns that were halted since the service answered 403 or 404. */
  readonly halted: readonly HaltedCampaign[]
  /** When the run began, as an ISO date. */
  readonly startedAt: string
  /** When the run ended, as an ISO date. */
  readonly finishedAt: string
  /** Whether the rows were read to their end, and each has a final verdict. */
  readonly complete: boolean
}

/** A row that was not certainly awarded. */
export interface RowProblem {
  /** The place of the row in the list, from 0. */
  readonly index: number
  /** The id of the award, where it could be read. */
  readonly id?: string
  /** What became of it. */
  readonly verdict: Exclude<Verdict, 'awarded' | 'alreadyAwarded'>
  /**
   * Why, as a stable code: that of the recorded failure (see {@link AwardFailure}), `'invalid_request'` for a row that is
   * wrong, `'in_doubt'` after an earlier attempt with an unknown outcome, `'ledger_failed'` when the ledger could not be written.
   */
  readonly code: string
  /** Why, in words. */
  readonly reason: string
}

/** A campaign that the token may not use, or that does not exist. */
export interface HaltedCampaign {
  /** Campaign ID. */
  readonly pid: string
  /** How many of its rows were left without a final verdict. */
  readonly rows: number
  /** The service's answer, in words. */
  readonly reason: string
}
