import type { CampaignClient } from '../client.ts'
import { AwardUnsettledError, type UnsettledReason, withCause } from '../errors/bulk-errors.ts'
import { invalidRequestError } from '../errors/invalid-request-error.ts'
import { readOptions } from '../errors/read-options.ts'
import type { FinalVerdict } from '../schemas/award-report.ts'
import { clientInternals } from '../shared/client-internals.ts'
import { LEDGER } from '../shared/ledger-key.ts'
import { mustBeBoolean, type OptionRules, optional } from '../shared/option-checks.ts'
import { issuesOfClient, requireArguments } from './arguments.ts'
import { mustBeSharedLedger, type SharedLedger } from './ledger/ledger.ts'
import { type AwardRow, checkRow, conflictIssues } from './rows.ts'
import { attemptAward, EVIDENCE_RULES, type Evidence, recordAttempt, retryableVerdicts } from './verdict.ts'

/** Options of {@link awardOne}. Only `ledger` is required. */
export interface AwardOneOptions extends Evidence {
  /** The ledger that records the award for all processes. Create it with `postgresLedger`. */
  ledger: SharedLedger
  /**
   * Retries an award that was `rejected`, unless its code is `other_amount`.
   *
   * @defaultValue false
   */
  retryRejected?: boolean | undefined
}

const OPTIONS: OptionRules<AwardOneOptions> = {
  ...EVIDENCE_RULES,
  ledger: mustBeSharedLedger,
  retryRejected: optional(mustBeBoolean),
}

/**
 * Makes one award. Call it in a job of a queue such as pg-boss, BullMQ or Temporal. The queue may run the job again at any
 * time, even while another process still works on it: the shared ledger allows one attempt at a time.
 *
 * It resolves to the final verdict, which may come from an earlier run of the job. After any error except
 * `InvalidRequestError` and `ConfigurationError`, the queue should run the job again: configure enough retries, with a
 * backoff.
 * See "POST /wallet/reward" in docs/the-service.md.
 *
 * @param client - makes the award with `rewardWallet`. The client's time limits, retries and guard apply
 * @param row - the award
 * @param options - the ledger, and how to confirm an award
 * @returns the verdict
 * @throws AwardUnsettledError when there is no verdict yet: run the job again
 * @throws InvalidRequestError when an argument or the row is invalid, the guard forbids the row, or its id belongs to
 *   another award. Running the job again does not help
 * @throws AccessTokenError | TimeoutError when the client gets no access token before the award is claimed: run the job
 *   again
 * @throws ConfigurationError when an option is wrong or misspelt, or the ledger belongs to another service, token or version
 * @throws the database's error when the ledger can't be reached: run the job again
 *
 * @example
 * ```ts
 * await boss.work('awards', async ([job]) => awardOne(client, job.data, { ledger }))
 * ```
 */
export async function awardOne(
  client: Pick<CampaignClient, 'rewardWallet'>,
  row: AwardRow,
  options: AwardOneOptions,
): Promise<FinalVerdict> {
  const { ledger, retryRejected, ...evidence } = readOptions('awardOne', options, OPTIONS)
  requireArguments('awardOne', issuesOfClient(client, 'rewardWallet'))
  const internals = clientInternals(client)
  const checked = checkRow(row, internals)
  if (!checked.ok) throw invalidRequestError('awardOne', checked.issues)

  const target = await internals?.target('awardOne', undefined)
  const session = await ledger[LEDGER].open(target)
  const claim = await session.claim(checked.row, retryableVerdicts(evidence, retryRejected))
  switch (claim.state) {
    case 'done':
      return claim.verdict
    case 'conflict':
      throw invalidRequestError('awardOne', conflictIssues(checked.row, claim.known))
    case 'busy':
      throw unsettled('busy', Math.min(claim.retryMs, MAX_BUSY_MS))
    case 'claimed':
      break
  }

  const attempted = await attemptAward(client, claim.attempt, evidence, target)
  const end = await recordAttempt(session, claim.attempt, attempted)
  if (end.kind === 'final') return end.verdict
  throw end.kind === 'invalid' ? end.error : unsettled(end.reason, end.afterMs, end.error)
}

/** The other process may finish long before its lease ends. */
const MAX_BUSY_MS = 5_000

const MESSAGES: Readonly<Record<UnsettledReason, string>> = {
  busy: 'another process is making this award',
  rate_limited: 'the service asks to wait',
  not_sent: 'the service could not be reached',
  refused_for_now: 'the service refused the token or the campaign',
  indeterminate: 'it is unknown whether the award was made',
}

function unsettled(reason: UnsettledReason, retryAfterMs?: number, cause?: unknown): AwardUnsettledError {
  const message = `awardOne: ${withCause(MESSAGES[reason], cause)}. Run it again`
  return new AwardUnsettledError(message, { reason, retryAfterMs, cause })
}
