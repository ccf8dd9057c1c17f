import type { CampaignClient } from '../client.ts'
import { CampaignError, RateLimitError } from '../errors.ts'
import { clientInternals } from '../shared/client-internals.ts'
import { type AwardRow, contradictions, readRow } from './award/row.ts'
import type { FinalVerdict } from './award/verdict.ts'
import { AwardUnsettledError, quotable, type UnsettledReason } from './errors.ts'
import { invalidRequest } from './invalid-request.ts'
import { LEDGER } from './ledger/ledger.ts'
import { type AwardOneOptions, readAwardOneOptions } from './options.ts'
import { attemptAward, recordAttempt } from './run/attempt.ts'

/**
 * Makes one award: the body of a job in a queue such as pg-boss, BullMQ or Temporal. The queue may run the job again at any
 * time, also while another process still works on it: the shared ledger lets one attempt at a time through.
 *
 * ```ts
 * await boss.work('awards', async ([job]) => awardOne(client, job.data, { ledger }))
 * ```
 *
 * It resolves to the final verdict, from this or an earlier run of the job. Otherwise it rejects, and the queue should run
 * the job again: configure enough retries, with a backoff.
 * Interface: [POST /wallet/reward](/the-service#post-walletreward),
 * [Limits](/the-service#limits).
 *
 * @param client - its `rewardWallet` makes the award, with its own time limits, retries and guard
 * @param row - the award
 * @returns the verdict
 * @throws AwardUnsettledError when there is no verdict yet: run the job again
 * @throws InvalidRequestError when an argument or the row is wrong, the guard forbids it, or its id stands for another
 *   award already: another run of the job ends the same way
 * @throws ConfigurationError when the ledger belongs to another target or version
 * @throws the database's error when the ledger can't be reached: run the job again
 */
export async function awardOne(
  client: Pick<CampaignClient, 'rewardWallet'>,
  row: AwardRow,
  options: AwardOneOptions,
): Promise<FinalVerdict> {
  const { ledger, retryRejected, confirm, isUsedId } = readAwardOneOptions(client, options)
  const checked = readRow(row)
  if (!checked.ok) throw invalidRequest('awardOne', checked.issues)
  const award = checked.value
  const inside = clientInternals(client)
  const refusals = inside?.refusalsOfAward({ ...award }) ?? []
  if (refusals.length > 0) throw invalidRequest('awardOne', refusals)

  const session = await ledger[LEDGER].open(await inside?.target('awardOne', undefined))
  const reopening = {
    rejected: retryRejected ?? false,
    unconfirmed: confirm !== undefined || isUsedId !== undefined,
  }
  const beginning = await session.begin(award, reopening, true)
  switch (beginning.kind) {
    case 'settled':
      return beginning.verdict
    case 'unfit':
      throw invalidRequest('awardOne', [beginning.issue])
    case 'conflict':
      throw invalidRequest('awardOne', contradictions(award, beginning.known))
    case 'begun':
      break
    default:
      throw unsettled('busy', undefined, beginning.kind === 'busy' ? beginning.retryMs : 0)
  }

  const result = await attemptAward(client, beginning.attempt, { confirm, isUsedId })
  const verdict = await recordAttempt(session, beginning.attempt, result)
  if (verdict === 'open') throw unsettled('busy', undefined, 0)
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
      throw unsettled('refused_for_now', outcome.error)
    case 'fatal':
      // An error that is not the client's own, such as an abort, says nothing about the service.
      throw unsettled(outcome.error instanceof CampaignError ? 'refused_for_now' : 'indeterminate', outcome.error)
    default:
      throw unsettled('indeterminate', outcome?.error)
  }
}

const WORDS: Readonly<Record<UnsettledReason, string>> = {
  busy: 'another process is making this award',
  rate_limited: 'the service asks to wait',
  not_sent: 'the service could not be reached',
  refused_for_now: 'the service refuses it for a reason that does not lie in the award',
  indeterminate: 'it is unknown whether it was awarded',
}

function unsettled(
  reason: UnsettledReason,
  cause?: unknown,
  retryAfterMs = cause instanceof RateLimitError ? cause.retryAfterMs : undefined,
): AwardUnsettledError {
  const said = quotable(cause)
  const words = said === undefined ? WORDS[reason] : `${WORDS[reason]}: ${said}`
  return new AwardUnsettledError(`awardOne: ${words}. Run it again`, { reason, retryAfterMs, cause })
}
