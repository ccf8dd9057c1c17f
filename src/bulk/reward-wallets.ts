import { ConfigurationError } from '../errors/client-errors.ts'
import {
  mustBeBoolean,
  mustBeFunction,
  mustBeSignal,
  type OptionRules,
  optional,
  readOptions,
} from '../errors/option-checks.ts'
import type { AwardReport } from '../schemas/award-report.ts'
import { type ClientTarget, clientInternals } from '../shared/client-internals.ts'
import { LEDGER } from '../shared/ledger-key.ts'
import { issuesOfClient, issuesOfList, mustBeConcurrency, mustBePatience, requireArguments } from './arguments.ts'
import { type LedgerSession, mustBeLedger } from './ledger/ledger.ts'
import { RunReport } from './report.ts'
import type { AwardRow, Rows } from './rows.ts'
import { ABORTED, type AwardClient, type RewardWalletsOptions, Run, stoppedError } from './run.ts'
import { EVIDENCE_RULES } from './verdict.ts'

const OPTIONS: OptionRules<RewardWalletsOptions> = {
  ...EVIDENCE_RULES,
  ledger: mustBeLedger,
  concurrency: mustBeConcurrency,
  signal: optional(mustBeSignal),
  onProgress: optional(mustBeFunction),
  patienceMs: mustBePatience,
  strict: optional(mustBeBoolean),
  retryRejected: optional(mustBeBoolean),
}

/**
 * Makes every award of a list once. After a stop or a crash, run the same list again with the same ledger to continue.
 *
 * Each row is written to the ledger before its request is sent, and its verdict afterwards. The service accepts each `id`
 * once, so an award with an unknown outcome is sent again with the same id. If the service then refuses the id, the ledger
 * shows that the first attempt may have succeeded. Derive the ids with {@link rewardId}.
 *
 * - A row that is invalid, or that the client's `guard` forbids, is counted as `rejected`, listed in `problems` and never
 *   sent. A corrected row is sent in the next run.
 * - A row that occurs twice is sent once.
 * - After a 403 or 404, the other rows of that campaign are not sent, and `complete` is false. Other campaigns continue.
 * - The run retries a row after a 429, and when its request could not be sent. At its end, it sends awards with an unknown
 *   outcome again, at most twice, unless the client has `maxRetries: 0`.
 * - If the service refuses an id, the run reads the wallet's progress, to find out whether the award was made: see `confirm`.
 *
 * See "POST /wallet/reward" in docs/the-service.md.
 *
 * @param client - makes the awards with `rewardWallet`, and reads progress with `getUserProgress` if it has it. The client's
 *   time limits, retries and guard apply. The ledger records the base URL of a `CampaignClient`, and the issuer and subject
 *   of its token. It refuses a client with other values
 * @param rows - the awards: any iterable or async iterable. It is read only as fast as the awards are sent
 * @param options - the ledger, the concurrency and callbacks
 * @returns the number of rows per verdict, and the problems. If `complete` is false, run the list again
 * @throws InvalidRequestError when an argument is wrong: a client without `rewardWallet`, rows that can't be iterated
 * @throws ConfigurationError when an option is wrong or misspelt, or the ledger can't be used: it belongs to another run,
 *   service, token or version, it is damaged or not writable, or another run is using it
 * @throws AwardRunStoppedError when the run stopped before its last row, for instance after an abort, a 401, twenty equal
 *   refusals before any success, an error of the ledger or the list, or because the service can't be reached. The `report`
 *   of the error counts the rows that were finished
 *
 * @example
 * ```ts
 * const report = await rewardWallets(client, rows, { ledger: fileLedger('awards.ledger') })
 * console.log(report.counts.awarded, report.complete)
 * ```
 */
export async function rewardWallets(
  client: AwardClient,
  rows: Rows<AwardRow>,
  options: RewardWalletsOptions,
): Promise<AwardReport> {
  const own = readOptions('rewardWallets', options, OPTIONS)
  requireArguments('rewardWallets', [...issuesOfClient(client, 'rewardWallet'), ...issuesOfList('rows', rows)])
  const { ledger, signal } = own
  const report = new RunReport()
  let target: ClientTarget | undefined
  let session: LedgerSession
  try {
    signal?.throwIfAborted()
    target = await clientInternals(client)?.target('rewardWallets', signal)
    session = await ledger[LEDGER].open(target)
  } catch (error) {
    if (signal?.aborted) throw stoppedError(report, ABORTED, signal.reason)
    if (error instanceof ConfigurationError) throw error
    throw stoppedError(report, 'the run could not start', error)
  }
  return new Run(client, target, session, rows, report, own).send()
}
