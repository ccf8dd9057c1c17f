import { withParts } from '../../errors/bulk-errors.ts'
import { ConfigurationError } from '../../errors/client-errors.ts'
import { mustBeText, nested, type OptionRule } from '../../errors/option-checks.ts'
import type { AwardFailure, FinalVerdict, Verdict } from '../../schemas/award-report.ts'
import { type ClientTarget, differentParts, shownClaim, textOfClaim } from '../../shared/client-internals.ts'
import { isWellFormed, toJsonLine } from '../../shared/text.ts'
import { typeName } from '../../shared/type-checks.ts'
import type { AwardRow } from '../rows.ts'
import type { AwardResult, FinalResult, RetryableVerdicts } from './award-state.ts'

/** The key of a ledger's implementation, the same in every copy of the package in a process. */
export const LEDGER: unique symbol = Symbol.for('campaign-client.ledger') as never

/** The `cause` of the error of a ledger that has changed since a plan was made. */
export const LEDGER_CHANGED = Symbol('ledger changed')

/**
 * Records awards, so that a later process can continue. Made by `fileLedger` or `postgresLedger`. You can pass one ledger to
 * several calls of `rewardWallets`, one after the other, and to any number of calls of `awardOne`.
 */
export interface AwardLedger {
  /** `file`: for the processes of one machine, one at a time. `shared`: for several machines at the same time. */
  readonly kind: 'file' | 'shared'
  /** The name of the run. */
  readonly run: string
  /** @internal */
  readonly [LEDGER]: LedgerImplementation
}

/** A ledger that several machines can use at the same time. Made by `postgresLedger`. */
export interface SharedLedger extends AwardLedger {
  readonly kind: 'shared'
}

/** Moves a ledger to another target: the same service and organization under a new base URL or a new service account. */
export interface Rebind {
  /** The recorded base URL, issuer or subject, as the error names it. */
  from: string
}

export interface LedgerImplementation {
  /**
   * Opens the ledger for one run.
   *
   * @throws CampaignError when the ledger is in use, can't be used, or belongs to another run or target
   * @throws the system's error when the ledger can't be reached
   */
  open(target: ClientTarget | undefined): Promise<LedgerSession>
  /**
   * Opens the ledger for one award, beside other awards of this process.
   *
   * @returns `undefined` if another process, or a run, has used the ledger for 5 s
   * @throws what {@link open} throws
   */
  openForOne(target: ClientTarget | undefined): Promise<AwardSession | undefined>
}

/**
 * An open ledger. A claim is the exclusive right to attempt an award. It ends when the award is completed (its verdict is
 * recorded) or the claim is released (no verdict). If it never ends, the outcome is unknown: the award is in doubt.
 */
export interface AwardSession {
  /** Claims the award for one attempt. Resolves when the claim is flushed. */
  claim(row: AwardRow, retryable: RetryableVerdicts): Promise<AwardClaim>
  /**
   * Records the verdict of the attempt and ends the claim. Resolves when the verdict is flushed.
   *
   * @returns the recorded verdict, which may come from another process; `busy` if the award must be claimed again, because
   *   another attempt holds the claim or the row is gone
   */
  complete(attempt: Attempt, verdict: Verdict, failure?: AwardFailure): Promise<Verdict | 'busy'>
  /**
   * Ends the claim of an attempt that certainly changed nothing. The ledger is then as it was before the claim.
   *
   * @param failure - recorded if the service refused the award, and `confirm` or `isUsedId` failed
   */
  release(attempt: Attempt, failure?: AwardFailure): Promise<void>
  /** Closes the ledger, when no change is pending. */
  close(): Promise<void>
}

/** An open ledger of a run. */
export interface LedgerSession extends AwardSession {
  /** Returns the recorded result of a row without claiming it. */
  lookUp(row: AwardRow): Promise<AwardResult | undefined>
  /** Returns the recorded award with the row's id, if it differs from the row. */
  findConflict(row: AwardRow): Promise<AwardRow | undefined>
}

/** An attempt at a claimed award. */
export interface Attempt {
  readonly row: AwardRow
  /** Whether an earlier attempt has an unknown outcome. */
  readonly isInDoubt: boolean
  /** The final verdict of an earlier attempt. */
  readonly previousVerdict: FinalVerdict | undefined
}

export type AwardClaim =
  | { readonly state: 'claimed'; readonly attempt: Attempt }
  /** The ledger has a final verdict. */
  | ({ readonly state: 'done' } & FinalResult)
  /** The id belongs to another award. */
  | { readonly state: 'conflict'; readonly known: AwardRow }
  /** Another attempt holds the claim. */
  | { readonly state: 'busy'; readonly retryMs: number }

const isLedger = (value: unknown): value is AwardLedger =>
  typeof value === 'object' && value !== null && LEDGER in value

export const mustBeLedger: OptionRule = (value) =>
  isLedger(value) ? undefined : `must be a ledger, such as fileLedger('awards.ledger'), got ${typeName(value)}`

/** A name of this length fits into an index of PostgreSQL. */
const MAX_RUN_LENGTH = 500

export const mustBeRunName: OptionRule = (value) => {
  const issue = mustBeText(value)
  if (issue !== undefined) return issue
  const name = value as string
  if (name.length > MAX_RUN_LENGTH) return `must have at most ${MAX_RUN_LENGTH} characters, got ${name.length}`
  if (name.includes('\0')) return 'must not contain U+0000'
  return isWellFormed(name) ? undefined : 'must not contain a lone surrogate'
}

export const mustBeRebind: OptionRule = nested({ from: mustBeText })

/**
 * Checks whether a client can use a ledger that has awards. If it can, the ledger records the target of the client.
 *
 * @param ledger - the ledger to name in the error
 * @param recorded - the target of the ledger; `undefined` if its client was not a `CampaignClient`
 * @throws ConfigurationError when the ledger has another target, and `rebind` does not move it
 */
export function requireTarget(
  ledger: string,
  recorded: ClientTarget | undefined,
  current: ClientTarget | undefined,
  rebind: Rebind | undefined,
): void {
  if (recorded === undefined || current === undefined) return
  const different = differentParts(recorded, current)
  const [first, ...others] = different.map(([name]) => textOfClaim(recorded[name]))
  if (first === undefined) return
  const from = [first, ...others] as const
  if (rebind !== undefined && from.includes(rebind.from)) return
  const changes = different.map(
    ([name, label]) => `${label} ${shownClaim(recorded[name])}, and the client now has ${shownClaim(current[name])}`,
  )
  const text = `${ledger} can't be used: it belongs to another target: ${changes.join('; ')}`
  const isWrong = rebind !== undefined
  const mustBe = `must be ${from.map(toJsonLine).join(' or ')}`
  const advice = isWrong
    ? `rebind.from ${mustBe}`
    : `If this is the same service and organization, pass rebind: { from: ${toJsonLine(first)} }`
  const issues = isWrong ? [{ path: ['rebind', 'from'], message: mustBe }] : []
  throw withParts(new ConfigurationError(`${text}. ${advice}`, { issues }), { text, rebind: { from, isWrong } })
}
