import { AwardUnsettledError, type UnsettledReason, withCause } from '../errors/bulk-errors.ts'
import { invalidRequestError, mustBeBoolean, type OptionRules, optional, readOptions } from '../errors/option-checks.ts'
import type { FinalVerdict } from '../schemas/award-report.ts'
import { clientInternals, optionsFor } from '../shared/client-internals.ts'
import {
  confirmAward,
  EVIDENCE_RULES,
  type Evidence,
  judgeOutcome,
  recordAttempt,
  retryableVerdicts,
  sendAward,
} from './attempt.ts'
import { confirmOf } from './confirm-from-progress.ts'
import { EVIDENCE_FAILED } from './ledger/award-state.ts'
import { type Attempt, type AwardLedger, type AwardSession, LEDGER, mustBeLedger } from './ledger/ledger.ts'
import { type AwardRow, checkRow, conflictIssues, issuesOfClient, requireArguments } from './rows.ts'
import type { AwardClient } from './run.ts'

/** Options of {@link awardOne}. */
export interface AwardOneOptions extends Evidence {
  /**
   * The ledger that records the award: `fileLedger` for one machine, `postgresLedger` for several. Without a ledger, nothing is
   * recorded.
   */
  ledger?: AwardLedger | undefined
  /**
   * Retries an award that was `rejected`, unless its code is `other_amount`. Without a ledger it has no effect.
   *
   * @defaultValue false
   */
  retryRejected?: boolean | undefined
  /**
   * Whether an attempt that the ledger does not know may have sent this award before. A refused id is then `unconfirmed`, not
   * `rejected`, unless `confirm` or `isUsedId` finds out more. Set it to `false` without a ledger only if this call is surely
   * the first for the award.
   *
   * @defaultValue true without a ledger, otherwise false
   */
  mayBeSent?: boolean | undefined
}

const OPTIONS: OptionRules<AwardOneOptions> = {
  ...EVIDENCE_RULES,
  ledger: optional(mustBeLedger),
  retryRejected: optional(mustBeBoolean),
  mayBeSent: optional(mustBeBoolean),
}

/**
 * Makes one award once, for instance after a purchase. After an `AwardUnsettledError`, or if the process was killed, call it
 * again with the same row: the service accepts each `id` once.
 *
 * - Without a ledger, nobody knows what an earlier call has sent. If the service refuses the id, `confirm` looks for the award
 *   in the wallet's progress: `alreadyAwarded`, or `unconfirmed` if it can't tell.
 * - With a `fileLedger`, the processes of one machine know what they have sent. An award with a final verdict is not sent again,
 *   except `rejected` with `retryRejected`, and `unconfirmed` with `isUsedId`. A call opens the file. When the last call ends, the
 *   file is closed at once if it was open for more than a second, otherwise after a second without a call. If another process
 *   has it, the call waits up to 5 s. Of two calls with the same id at once, the second waits, and gets the verdict of the first.
 * - With a `postgresLedger`, several machines share the ledger, for instance the workers of a queue such as pg-boss, BullMQ or
 *   Temporal. One attempt at a time holds the claim of an award.
 *
 * It resolves to the final verdict, which may come from an earlier call.
 * See "POST /wallet/reward" in docs/the-service.md.
 *
 * @param client - makes the award with `rewardWallet`, and reads progress with `getUserProgress` if it has it. The client's
 *   time limits, retries and guard apply
 * @param row - the award
 * @param options - the ledger, and how to confirm an award
 * @returns the verdict
 * @throws AwardUnsettledError when there is no verdict yet: call it again with the same row
 * @throws InvalidRequestError when an argument or the row is invalid, the guard forbids the row, or its id belongs to
 *   another award. A further call does not help
 * @throws AccessTokenError | TimeoutError when the client gets no access token before the award is claimed: call it again
 * @throws ConfigurationError when an option is wrong or misspelt, or the ledger can't be used or belongs to another service,
 *   token or version
 * @throws the error of the database or the disk when the ledger can't be reached or written: call it again
 *
 * @example
 * ```ts
 * const verdict = await awardOne(client, row, { ledger: fileLedger('awards.ledger') })
 * ```
 */
export async function awardOne(
  client: AwardClient,
  row: AwardRow,
  options: AwardOneOptions = {},
): Promise<FinalVerdict> {
  const { ledger, retryRejected, mayBeSent, confirm, isUsedId } = readOptions('awardOne', options, OPTIONS)
  requireArguments('awardOne', issuesOfClient(client, 'rewardWallet'))
  const internals = clientInternals(client)
  const checked = checkRow(row, internals)
  if (!checked.ok) throw invalidRequestError('awardOne', checked.issues)
  const judge = { isUsedId, confirm: confirmOf(confirm, client) }

  const target = ledger && (await internals?.target('awardOne', undefined))
  const session = ledger === undefined ? WITHOUT_LEDGER : await ledger[LEDGER].openForOne(target)
  if (session === undefined) throw unsettled('busy')
  try {
    const claim = await session.claim(checked.row, retryableVerdicts(judge, retryRejected))
    switch (claim.state) {
      case 'done':
        return claim.verdict
      case 'conflict':
        throw invalidRequestError('awardOne', conflictIssues(checked.row, claim.known))
      case 'busy':
        throw unsettled('busy', { retryAfterMs: Math.min(claim.retryMs, MAX_BUSY_MS) })
      case 'claimed':
        break
    }

    const isInDoubt = claim.attempt.isInDoubt || (mayBeSent ?? ledger === undefined)
    const attempt: Attempt = { ...claim.attempt, isInDoubt }
    const attempted =
      (await confirmAward(attempt, judge)) ??
      (await judgeOutcome(attempt, await sendAward(client, checked.row, target && optionsFor(target)), judge))
    const end = await recordAttempt(session, attempt, attempted)
    const { failure } = attempted
    if (failure?.code === EVIDENCE_FAILED) {
      throw unsettled('indeterminate', { cause: attempted.outcome?.error, isInDoubt }, failure.message)
    }
    if (end.kind === 'final') return end.verdict
    if (end.kind === 'invalid') throw end.error
    throw unsettled(end.reason, { retryAfterMs: end.afterMs, cause: end.error, isInDoubt })
  } finally {
    await session.close()
  }
}

/** Records nothing. */
const WITHOUT_LEDGER: AwardSession = {
  claim: async (row) => ({ state: 'claimed', attempt: { row, isInDoubt: false, previousVerdict: undefined } }),
  complete: async (_, verdict) => verdict,
  release: async () => undefined,
  close: async () => undefined,
}

/** The other process may finish long before its lease ends. */
const MAX_BUSY_MS = 5_000

const MESSAGES: Readonly<Record<UnsettledReason, string>> = {
  busy: 'another process is making this award, or uses its ledger',
  rate_limited: 'the service asks to wait',
  not_sent: 'the service could not be reached',
  refused_for_now: 'the service refused the token or the campaign',
  indeterminate: 'it is unknown whether the award was made',
}

function unsettled(
  reason: UnsettledReason,
  details: Omit<ConstructorParameters<typeof AwardUnsettledError>[1], 'reason'> = {},
  text: string = withCause(MESSAGES[reason], details.cause),
): AwardUnsettledError {
  const message = `awardOne: ${text}. Call it again with the same row`
  return new AwardUnsettledError(message, { reason, ...details })
}
