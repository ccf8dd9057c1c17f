import type { Issue } from '../../errors.ts'
import type { ClientTarget } from '../../shared/client-internals.ts'
import type { AwardRow } from '../award/row.ts'
import type { AwardFailure, FinalVerdict, Judgement, Verdict } from '../award/verdict.ts'

/** The key of a ledger's implementation, the same in every copy of the package in a process. */
export const LEDGER: unique symbol = Symbol.for('campaign-client.ledger') as never

/**
 * Records a run of awards, and survives the process: made by `fileLedger` or `postgresLedger`. It can be used for one run
 * after the other.
 */
export interface AwardLedger {
  /** Where it is kept. */
  readonly kind: 'file' | 'shared'
  /** The name of the run that it belongs to. */
  readonly run: string
  /** @internal */
  readonly [LEDGER]: LedgerImplementation
}

/** A ledger that several processes can use at the same time: made by `postgresLedger`. */
export interface SharedLedger extends AwardLedger {
  readonly kind: 'shared'
}

export interface LedgerImplementation {
  /** @throws CampaignError when it can't be used for this target, or not now; the system's error when it can't be reached */
  open(target: ClientTarget | undefined): Promise<LedgerSession>
}

/** The final verdicts after which an award may be tried again. */
export interface Reopening {
  readonly rejected: boolean
  readonly unconfirmed: boolean
}

/** An open ledger. */
export interface LedgerSession {
  /**
   * Binds the row's id to its award, and resolves when the intent is flushed.
   *
   * @param isAgain - whether this very row was begun before in this session, and released
   */
  begin(row: AwardRow, reopening: Reopening, isAgain: boolean): Beginning | Promise<Beginning>
  /**
   * Resolves when the verdict is flushed: to the verdict of the award, which another process may have found, or to `open`
   * where another attempt is still under way.
   */
  settle(attempt: Attempt, verdict: Verdict, failure?: AwardFailure): Promise<Verdict | 'open'>
  /** Takes the attempt back: it certainly changed nothing. */
  release(attempt: Attempt): Promise<void>
  /** What the ledger has for a row that will not be sent, if anything. Binds nothing. */
  recall(row: AwardRow, isAgain: boolean): Recalled | Promise<Recalled>
  /** The award that the row's id stands for, where it is another one. Binds nothing. */
  conflictOf(row: AwardRow): AwardRow | undefined | Promise<AwardRow | undefined>
  /** Called right before each request. @throws Error when the ledger is no longer ours */
  check(): void
  /** Resolves when everything is flushed and released; rejects when a part of it is not. */
  close(): Promise<void>
}

/** An attempt that was begun, and not settled or released yet. */
export interface Attempt {
  readonly row: AwardRow
  /** Whether there was an earlier attempt whose outcome is unknown. */
  readonly isDoubtful: boolean
  /** The final verdict after which the award is tried again. */
  readonly reopened: FinalVerdict | undefined
}

/** A final verdict, with its reason. */
export interface Settled extends Judgement {
  readonly verdict: FinalVerdict
}

/** What a ledger says of a row that is to be awarded. */
export type Beginning =
  | { readonly kind: 'begun'; readonly attempt: Attempt }
  | ({ readonly kind: 'settled' } & Settled)
  | { readonly kind: 'duplicate' }
  /** The id stands for another award. */
  | { readonly kind: 'conflict'; readonly known: AwardRow }
  | { readonly kind: 'busy'; readonly retryMs: number }
  /** The ledger can't store the row. */
  | { readonly kind: 'unfit'; readonly issue: Issue }

/** What is known of a row without beginning it. */
export type Recalled = Judgement | 'duplicate' | undefined

/** Whether an award with this verdict may be tried again. One that was made with another amount never is. */
export const isReopened = ({ verdict, failure }: Settled, { rejected, unconfirmed }: Reopening): boolean =>
  (verdict === 'rejected' && rejected && failure?.code !== 'other_amount') || (verdict === 'unconfirmed' && unconfirmed)
