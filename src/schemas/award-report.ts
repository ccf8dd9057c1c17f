/**
 * The result of one award.
 *
 * - `awarded`: the service responded with 200.
 * - `alreadyAwarded`: the service refused the id, and `confirm` or `isUsedId` showed that it was used for this award: by an
 *   attempt of this ledger whose response was lost, or, with the code `used_before`, by another list, a lost ledger or a
 *   colleague.
 * - `unconfirmed`: the service refused the id, and an earlier attempt may have made the award. Final, unless `confirm` or
 *   `isUsedId` shows more in a later run.
 * - `rejected`: the row was invalid; or the service refused the award, and no earlier attempt can have made it.
 * - `indeterminate`: the outcome is unknown after the last attempt, or `confirm` or `isUsedId` failed. Not final: run
 *   the list or the job again.
 */
export type Verdict = 'awarded' | 'alreadyAwarded' | 'unconfirmed' | 'rejected' | 'indeterminate'

/** The verdicts that end an award. By default, a later run with the same ledger does not send the award again. */
export type FinalVerdict = Exclude<Verdict, 'indeterminate'>

/** The reason for a verdict, as the ledger records it. */
export interface AwardFailure {
  /**
   * The `code` of the client's error, such as `'bad_request'`; or `'used_before'` (the award was made, but by no attempt of this
   * ledger), `'not_confirmed'` (`confirm` returned `false`),
   * `'other_amount'` (the id was used with another amount), `'id_used'` (the id was used, but by no attempt of this ledger),
   * `'evidence_failed'` (`confirm` or `isUsedId` threw), `'unexpected'` (the client threw an unknown error).
   */
  code: string
  /** The HTTP status, if there was a response. */
  status?: number
  /** The reason as text. */
  message: string
}

/** A verdict, or `'duplicate'` for a row that repeats an earlier row. */
export type Countable = Verdict | 'duplicate'

/** A number for each verdict and for duplicates. */
export type PerVerdict = Readonly<Record<Countable, number>>

/** The report of a run of awards. It can be stored as JSON. */
export interface AwardReport {
  /** The version of this format. */
  readonly version: 1
  /** The number of rows that were read. */
  readonly rows: number
  /** The number of rows per verdict, including the verdicts of earlier runs with the same ledger. */
  readonly counts: PerVerdict
  /** The XP of those rows. An invalid row counts with its `xp` if that is above 0. */
  readonly xp: PerVerdict
  /**
   * The rows with the code `used_before`: their award was made, but not by this list. They are in `counts.alreadyAwarded` and
   * `xp.alreadyAwarded`, too.
   */
  readonly usedBefore: { readonly awards: number; readonly xp: number }
  /** The number of rows that were not sent because the ledger had their final verdict. */
  readonly fromLedger: number
  /** The first 1 000 rows with a verdict other than `awarded` and `alreadyAwarded`, in the order in which they finished. */
  readonly problems: readonly RowProblem[]
  /** The number of further problems. */
  readonly problemsOmitted: number
  /**
   * The halted campaigns: after a 403 or 404 the other rows of a campaign are not sent. These rows are not in `counts`, except
   * for those that have a verdict in the ledger or are in doubt.
   */
  readonly halted: readonly HaltedCampaign[]
  /** The ISO date of the start. */
  readonly startedAt: string
  /** The ISO date of the end. */
  readonly finishedAt: string
  /**
   * Whether all rows were read and each has a final verdict. It does not say that every award was given by this list: see
   * `counts` and `usedBefore`.
   */
  readonly complete: boolean
}

/** A row whose verdict is neither `awarded` nor `alreadyAwarded`. */
export interface RowProblem {
  /** The position of the row in the list, from 0. */
  readonly index: number
  /** The id of the award, if it is a string. */
  readonly id?: string
  /** The wallet address, if it is a string. */
  readonly address?: string
  /** Campaign ID, if it is a string. */
  readonly pid?: string
  /** The amount of XP, if it is a finite number. */
  readonly xp?: number
  /** The row's verdict. */
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
  /**
   * The number of its rows that were not sent and are not in `counts`. A row whose earlier attempt has an unknown outcome is in
   * `counts.indeterminate` instead.
   */
  readonly rows: number
  /** The service's error as text. */
  readonly reason: string
}
