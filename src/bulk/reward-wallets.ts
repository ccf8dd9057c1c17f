import type { CampaignClient } from '../client.ts'
import { ConfigurationError } from '../errors.ts'
import { clientInternals } from '../shared/client-internals.ts'
import type { AwardRow } from './award/row.ts'
import { AwardRunStoppedError, withCause } from './errors.ts'
import { LEDGER, type LedgerSession } from './ledger/ledger.ts'
import { type RewardWalletsOptions, readRewardWalletsOptions } from './options.ts'
import { ProgressReporter } from './report/progress-reporter.ts'
import type { AwardReport } from './report/report.ts'
import { ReportBuilder } from './report/report-builder.ts'
import { PauseGate } from './run/pause-gate.ts'
import { lengthOf, RowSource, type Rows } from './run/row-source.ts'
import { Run } from './run/run.ts'
import type { StopReason } from './run/stop-rules.ts'

/**
 * Makes every award of a list once. After a stop or a crash, run the same list again with the same ledger to continue.
 *
 * Each row is written to the ledger before its request is sent, and its verdict afterwards. The service accepts each `id`
 * once, so an award with an unknown outcome is sent again with the same id. If the service then refuses the id, the ledger
 * shows that the first attempt may have succeeded. Derive the ids with {@link rewardId}.
 *
 * ```ts
 * const report = await rewardWallets(client, rows, { ledger: fileLedger('awards.ledger') })
 * console.log(report.counts.awarded, report.complete)
 * ```
 *
 * - A row that is invalid, or that the client's `guard` forbids, is counted as `rejected`, listed in `problems` and never
 *   sent. A corrected row is sent in the next run.
 * - A row that occurs twice is sent once.
 * - After a 403 or 404, the other rows of that campaign are not sent, and `complete` is false. Other campaigns continue.
 * - The run retries a row after a 429, and when its request could not be sent.
 *
 * Interface: [POST /wallet/reward](/the-service#post-walletreward),
 * [Limits](/the-service#limits).
 *
 * @param client - makes the awards with `rewardWallet`. The client's time limits, retries and guard apply. The ledger
 *   records the address of a `CampaignClient`, and the issuer and subject of its token. It refuses a client
 *   with other values
 * @param rows - the awards: any iterable or async iterable. It is read only as fast as the awards are sent
 * @returns the number of rows per verdict, and the problems. If `complete` is false, run the list again
 * @throws InvalidRequestError when an argument is wrong: no ledger, rows that can't be iterated, an unknown option
 * @throws ConfigurationError when the ledger can't be used: it belongs to another run, service, token or version, it is
 *   damaged or not writable, or another run is using it
 * @throws AwardRunStoppedError when the run stopped before its last row, for instance after an abort, a 401, twenty equal
 *   refusals before any success, an error of the ledger or the list, or because the service can't be reached. The `report`
 *   of the error counts the rows that were finished
 */
export async function rewardWallets(
  client: Pick<CampaignClient, 'rewardWallet'>,
  rows: Rows<AwardRow>,
  options: RewardWalletsOptions,
): Promise<AwardReport> {
  const { ledger, signal, concurrency, onProgress, strict, retryRejected, confirm, isUsedId } =
    readRewardWalletsOptions(client, options)
  const report = new ReportBuilder()
  const source = new RowSource(rows)
  const internals = clientInternals(client)
  const stopError = ({ cause, message }: StopReason): AwardRunStoppedError => {
    const text = `rewardWallets stopped: ${withCause(message, cause)}. To continue, run it again with the same ledger`
    return new AwardRunStoppedError(text, { cause, report: report.build(source.rowsRead, false) })
  }

  let session: LedgerSession
  try {
    signal?.throwIfAborted()
    session = await ledger[LEDGER].open(await internals?.target('rewardWallets', signal))
  } catch (error) {
    await source.close()
    if (signal?.aborted) throw stopError({ cause: signal.reason, message: ABORTED })
    if (error instanceof ConfigurationError) throw error
    throw stopError({ cause: error, message: 'the run could not start' })
  }

  const gate = new PauseGate()
  const total = lengthOf(rows)
  const progress = new ProgressReporter(onProgress, () => ({
    rows: source.rowsRead,
    total: (source.isEnded ? source.rowsRead : total) ?? null,
    counts: report.totals.counts,
    xp: report.totals.xp,
    waitingMs: gate.remainingMs,
  }))
  const run = new Run({
    client,
    session,
    report,
    progress,
    gate,
    concurrency: concurrency ?? DEFAULT_CONCURRENCY,
    evidence: { confirm, isUsedId },
    retryRejected: retryRejected ?? false,
    refusals: (row) => internals?.refusalsOfAward({ ...row }) ?? [],
  })
  const onAbort = () => run.stop(ABORTED, signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort()
  try {
    const rowsToSend = strict ? await run.check(source) : source
    await run.send(rowsToSend)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await session.close().catch((error: unknown) => run.stop('the ledger failed', error))
  }
  progress.finish()
  if (run.stopReason !== undefined) throw stopError(run.stopReason)
  return report.build(source.rowsRead, source.isEnded)
}

const DEFAULT_CONCURRENCY = 8
const ABORTED = 'the signal was aborted'
