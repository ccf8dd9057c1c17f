import type { Issue } from '../../errors.ts'
import type { ClientTarget } from '../../shared/client-internals.ts'
import type { AwardRow } from '../award/row.ts'
import type { AwardFailure, AwardResult, FinalResult, FinalVerdict, Verdict } from '../award/verdict.ts'

/** The key of a ledger's implementation, the same in every copy of the package in a process. */
export const LEDGER: unique symbol = Symbol.for('campaign-client.ledger') as never

/**
 * Records a run of awards, so that a later process can continue the run. Made by `fileLedger` or `postgresLedger`. You can
 * pass one ledger to several calls of `rewardWallets`, one after the other.
 */
export interface AwardLedger {
  /** `file`: for one process at a time. `shared`: for several processes at the same time. */
  readonly kind: 'file' | 'shared'
  /** The name of the run. */
  readonly run: string
  /** @internal */
  readonly [LEDGER]: LedgerImplementation
}

/** A ledger that several processes can use at the same time. Made by `postgresLedger`. */
export interface SharedLedger extends AwardLedger {
  readonly kind: 'shared'
}

export interface LedgerImplementation {
  /**
   * @throws CampaignError when the ledger is in use, or belongs to another service or token
   * @throws the system's error when the ledger can't be reached
   */
  open(target: ClientTarget | undefined): Promise<LedgerSession>
}

/** The final verdicts that allow another attempt. */
export interface RetryableVerdicts {
  readonly rejected: boolean
  readonly unconfirmed: boolean
}

/**
 * An open ledger. A claim is the exclusive right to attempt an award. It ends when the award is settled (its verdict is
 * recorded) or the claim is released (no verdict). If it never ends, the outcome is unknown: the award is in doubt.
 */
export interface LedgerSession {
  /**
   * Claims the award for one attempt. Resolves when the claim is flushed.
   *
   * @param isRetry - whether this call claims the same row again. If `false` and the session has seen the id, the row is a
   *   duplicate
   */
  claim(row: AwardRow, retryable: RetryableVerdicts, isRetry: boolean): ClaimResult | Promise<ClaimResult>
  /**
   * Records the verdict of the attempt and releases the claim. Resolves when the verdict is flushed.
   *
   * @returns the recorded verdict, which may come from another process; `busy` while another attempt holds the claim
   */
  settle(attempt: Attempt, verdict: Verdict, failure?: AwardFailure): Promise<Verdict | 'busy'>
  /** Releases the claim of an attempt that certainly changed nothing. */
  release(attempt: Attempt): Promise<void>
  /** Returns the recorded result of a row without claiming it. */
  lookUp(row: AwardRow, isRetry: boolean): LookUpResult | Promise<LookUpResult>
  /** Returns the recorded award with the row's id, if it differs from the row. */
  findConflict(row: AwardRow): AwardRow | undefined | Promise<AwardRow | undefined>
  /** Call it right before each request. @throws ConfigurationError when another run has taken over the ledger */
  checkLock(): void
  /** Flushes and closes the ledger. */
  close(): Promise<void>
}

/** An attempt at a claimed award. */
export interface Attempt {
  readonly row: AwardRow
  /** Whether an earlier attempt has an unknown outcome. */
  readonly isInDoubt: boolean
  /** The final verdict of an earlier attempt. */
  readonly previousVerdict: FinalVerdict | undefined
}

export type ClaimResult =
  | { readonly kind: 'claimed'; readonly attempt: Attempt }
  | ({ readonly kind: 'settled' } & FinalResult)
  | { readonly kind: 'duplicate' }
  /** The id belongs to another award. */
  | { readonly kind: 'conflict'; readonly known: AwardRow }
  /** Another attempt holds the claim. */
  | { readonly kind: 'busy'; readonly retryMs: number }
  /** The ledger can't store the row. */
  | { readonly kind: 'invalid'; readonly issue: Issue }

export type LookUpResult = AwardResult | 'duplicate' | undefined

/** Whether an award with this result may be attempted again. Never if its id was used with another amount. */
export const isRetryable = ({ verdict, failure }: FinalResult, { rejected, unconfirmed }: RetryableVerdicts): boolean =>
  (verdict === 'rejected' && rejected && failure?.code !== 'other_amount') || (verdict === 'unconfirmed' && unconfirmed)
