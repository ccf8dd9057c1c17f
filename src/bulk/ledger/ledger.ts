import type { Issue } from '../../errors.ts'
import type { ClientTarget } from '../../shared/client-internals.ts'
import type { AwardRow } from '../award/row.ts'
import type { AwardFailure, FinalVerdict, Verdict } from '../award/verdict.ts'

/** Under this name a ledger keeps its works, for every copy of the package in a process. */
export const LEDGER: unique symbol = Symbol.for('campaign-client.ledger') as never

/**
 * The truth of a run of awards, where it survives the process: made by `fileLedger` or `postgresLedger`. It can be used
 * for one run after the other.
 */
export interface AwardLedger {
  /** Where it is kept. */
  readonly kind: 'file' | 'shared'
  /** The name of the run that it belongs to. */
  readonly run: string
  /** @internal */
  readonly [LEDGER]: LedgerWorks
}

/** A ledger that several processes can use at the same time: made by `postgresLedger`. */
export interface SharedLedger extends AwardLedger {
  readonly kind: 'shared'
}

export interface LedgerWorks {
  /** @throws CampaignError when it can't be used for this target, or not now; the system's error when it can't be reached */
  open(target: ClientTarget | undefined): Promise<LedgerSession>
}

/** What may be taken up again although it has a final verdict. */
export interface Reopening {
  readonly rejected: boolean
  readonly unconfirmed: boolean
}

/** A ledger in use. */
export interface LedgerSession {
  /**
   * Binds the row's id to it, and resolves when the intent is durable. At once where nothing has to be written.
   *
   * @param again - whether this very row was begun before in this session, and released
   */
  begin(row: AwardRow, reopening: Reopening, again: boolean): Beginning | Promise<Beginning>
  /** Resolves to the verdict that stands when it is durable: another process may have found a better one. */
  settle(attempt: Attempt, verdict: Verdict, failure?: AwardFailure): Promise<Standing>
  /** The attempt certainly changed nothing: back to what was before it. */
  release(attempt: Attempt): Promise<void>
  /** What stands for a row that will not be sent, if anything. Binds nothing. */
  recall(row: AwardRow): Recalled | Promise<Recalled>
  /** Whether the ledger has the row's id for another address, campaign or amount. Binds nothing. */
  contradicts(row: AwardRow): boolean | Promise<boolean>
  /** What the ledger has for an id. */
  find(id: string): Promise<AwardRow | undefined>
  /** Resolves when everything is durable and let go of; rejects when not all of it got durable. */
  close(): Promise<void>
}

/** An attempt that was begun, and not settled or released yet. */
export interface Attempt {
  readonly row: AwardRow
  /** There was an attempt before this one whose end nobody knows. */
  readonly doubtful: boolean
  /** The final verdict that is taken up again. */
  readonly reopened: FinalVerdict | undefined
}

/** What a ledger says of a row that is to be awarded. */
export type Beginning =
  | { readonly kind: 'begun'; readonly attempt: Attempt }
  | { readonly kind: 'settled'; readonly verdict: FinalVerdict }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'busy'; readonly retryMs: number }
  /** The ledger has no way to write the row down. */
  | { readonly kind: 'unfit'; readonly issue: Issue }

/** What is known of a row without beginning it. */
export type Recalled = Verdict | 'duplicate' | undefined

/** What stands after settling: the verdict, or that another attempt is still open and will tell. */
export type Standing = Verdict | 'superseded'

export const isReopened = (verdict: FinalVerdict, { rejected, unconfirmed }: Reopening): boolean =>
  (verdict === 'rejected' && rejected) || (verdict === 'unconfirmed' && unconfirmed)
