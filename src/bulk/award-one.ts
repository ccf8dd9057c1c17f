import type { CampaignClient } from '../client.ts'
import { CampaignError, RateLimitError } from '../errors.ts'
import { clientInternals } from '../shared/client-internals.ts'
import { type AwardRow, conflictIssues, readRow } from './award/row.ts'
import type { FinalVerdict } from './award/verdict.ts'
import { AwardUnsettledError, invalidRequestError, type UnsettledReason, withCause } from './errors.ts'
import { LEDGER } from './ledger/ledger.ts'
import { type AwardOneOptions, readAwardOneOptions } from './options.ts'
import { attemptAward, recordAttempt } from './run/attempt.ts'

/**
 * Makes one award. Call it in a job of a queue such as pg-boss, BullMQ or Temporal. The queue may run the job again at any
 * time, even while another process still works on it: the shared ledger allows one attempt at a time.
 *
 * ```ts
 * await boss.work('awards', async ([job]) => awardOne(client, job.data, { ledger }))
 * ```
 *
 * It resolves to the final verdict, which may come from an earlier run of the job. After any error except
 * `InvalidRequestError` and `ConfigurationError`, the queue should run the job again: configure enough retries, with a
 * backoff.
 * Interface: [POST /wallet/reward](/the-service#post-walletreward),
 * [Limits](/the-service#limits).
 *
 * @param client - makes the award with `rewardWallet`. The client's time limits, retries and guard apply
 * @param row - the award
 * @returns the verdict
 * @throws AwardUnsettledError when there is no verdict yet: run the job again
 * @throws InvalidRequestError when an argument or the row is invalid, the guard forbids the row, or its id belongs to
 *   another award. Running the job again does not help
 * @throws AccessTokenError when the client gets no access token before the award is claimed: run the job again
 * @throws ConfigurationError when the ledger belongs to another service, token or version
 * @throws the database's error when the ledger can't be reached: run the job again
 */
export async function awardOne(
  client: Pick<CampaignClient, 'rewardWallet'>,
  row: AwardRow,
  options: AwardOneOptions,
): Promise<FinalVerdict> {
  const { ledger, retryRejected, confirm, isUsedId } = readAwardOneOptions(client, options)
  const checked = readRow(row)
  if (!checked.ok) throw invalidRequestError('awardOne', checked.issues)
  const award = checked.value
  const internals = clientInternals(client)
  const refusals = internals?.refusalsOfAward({ ...award }) ?? []
  if (refusals.length > 0) throw invalidRequestError('awardOne', refusals)

  const session = await ledger[LEDGER].open(await internals?.target('awardOne', undefined))
  const retryable = {
    rejected: retryRejected ?? false,
    unconfirmed: confirm !== undefined || isUsedId !== undefined,
  }
  const claim = await session.claim(award, retryable, false)
  switch (claim.kind) {
    case 'settled':
      return claim.verdict
    case 'invalid':
      throw invalidRequestError('awardOne', [claim.issue])
    case 'conflict':
      throw invalidRequestError('awardOne', conflictIssues(award, claim.known))
    case 'claimed':
      break
    default:
      throw unsettled('busy', undefined, claim.kind === 'busy' ? claim.retryMs : 0)
  }

  const result = await attemptAward(client, claim.attempt, { confirm, isUsedId })
  const verdict = await recordAttempt(session, claim.attempt, result)
  if (verdict === 'busy') throw unsettled('busy', undefined, 0)
  if (verdict !== undefined && verdict !== 'indeterminate') return verdict
  const { outcome } = result
  switch (outcome?.kind) {
    case 'invalid':
      throw outcome.error
    case 'rate_limited':
      throw unsettled('rate_limited', outcome.error)
    case 'unreachable':
      throw unsettled(outcome.maybeApplied ? 'indeterminate' : 'not_sent', outcome.error)
    case 'campaign_refused':
    case 'fatal':
      // An error of another library leaves the outcome unknown.
      throw unsettled(outcome.error instanceof CampaignError ? 'refused_for_now' : 'indeterminate', outcome.error)
    default:
      throw unsettled('indeterminate', outcome?.error)
  }
}

const MESSAGES: Readonly<Record<UnsettledReason, string>> = {
  busy: 'another process is making this award',
  rate_limited: 'the service asks to wait',
  not_sent: 'the service could not be reached',
  refused_for_now: 'the service refused the token or the campaign',
  indeterminate: 'it is unknown whether the award was made',
}

function unsettled(
  reason: UnsettledReason,
  cause?: unknown,
  retryAfterMs = cause instanceof RateLimitError ? cause.retryAfterMs : undefined,
): AwardUnsettledError {
  const message = `awardOne: ${withCause(MESSAGES[reason], cause)}. Run it again`
  return new AwardUnsettledError(message, { reason, retryAfterMs, cause })
}
