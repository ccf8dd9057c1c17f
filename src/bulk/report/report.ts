import type { AwardFailure, Verdict } from '../award/verdict.ts'
import type { PerVerdict } from './tally.ts'

/** What became of a list of awards. It can be stored as JSON. */
export interface AwardReport {
  /** Of the shape of the report. */
  readonly version: 1
  /** How many rows were read from the list. */
  readonly rows: number
  /** How many of them ended how, in this run or one before with the same ledger. */
  readonly counts: PerVerdict
  /** The XP of those rows. Of rows that are wrong, what is a number. */
  readonly xp: PerVerdict
  /** How many rows had their final verdict in the ledger already, and were not sent. */
  readonly fromLedger: number
  /** Rows without an award, with the reason: in the order in which that was found, 1 000 at most. */
  readonly problems: readonly RowProblem[]
  /** How many problems there were beyond those listed. */
  readonly problemsOmitted: number
  /** Campaigns that were given up because the service answered 403 or 404, with the rows that were left out for it. */
  readonly halted: readonly HaltedCampaign[]
  /** When the run began, as an ISO date. */
  readonly startedAt: string
  /** When the run ended, as an ISO date. */
  readonly finishedAt: string
  /** Whether the rows were read to their end, and each has a final verdict. */
  readonly complete: boolean
}

/** A row that has not been awarded, or not for sure. */
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

/** A campaign that the token must not use, or that is not there. */
export interface HaltedCampaign {
  /** Campaign ID. */
  readonly pid: string
  /** How many rows were left without a verdict for it. */
  readonly rows: number
  /** What the service answered, in words. */
  readonly reason: string
}
