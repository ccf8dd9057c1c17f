import type { CampaignClient } from '../client.ts'
import { ConfigurationError } from '../errors.ts'
import { clientInternals } from '../shared/client-internals.ts'
import type { AwardRow } from './award/row.ts'
import { AwardRunStoppedError, quotable } from './errors.ts'
import { LEDGER, type LedgerSession } from './ledger/ledger.ts'
import { type RewardWalletsOptions, readRewardWalletsOptions } from './options.ts'
import { ProgressReporter } from './report/progress.ts'
import { Recorder } from './report/recorder.ts'
import type { AwardReport } from './report/report.ts'
import { Pause } from './run/pause.ts'
import { lengthOf, RowSource, type Rows } from './run/rows.ts'
import { Run } from './run/run.ts'
import type { StopReason } from './run/stop-rules.ts'

/**
 * Makes every award of a list once. Whatever ends the process, running the same list again with the same ledger goes on
 * where it ended.
 *
 * Each row is written to the ledger before its request leaves, and its verdict afterwards. The service accepts each `id`
 * once, so an award with an unknown outcome is sent again under the same id: when the service then refuses it, the ledger
 * tells that the first attempt may have succeeded. Derive ids from the reason of the award, with {@link rewardId}.
 *
 * ```ts
 * const report = await rewardWallets(client, rows, { ledger: fileLedger('awards.ledger') })
 * console.log(report.counts.awarded, report.complete)
 * ```
 *
 * A row that is wrong, or against the client's `guard`, is counted as `rejected`, listed in `problems` and never sent. A
 * corrected row is sent in the next run. The same row twice is sent once. After a 403 or 404 no more rows of that campaign
 * are sent, the others go on, and `complete` is false. Rows that got a 429, or were certainly not sent, are queued again.
 * Interface: [POST /wallet/reward](/the-service#post-walletreward),
 * [Limits](/the-service#limits).
 *
 * @param client - its `rewardWallet` makes the awards, with its own time limits, retries and guard. The ledger also records
 *   the address of a `CampaignClient` and its token's issuer and subject. With other ones, the ledger is refused
 * @param rows - the awards: any iterable or async iterable. It is read only as fast as the awards are sent
 * @returns the number of rows per verdict, and the problems. `complete` tells whether each row has a final verdict; if not,
 *   run the list again
 * @throws InvalidRequestError when an argument is wrong: no ledger, rows that can't be iterated, an unknown option
 * @throws ConfigurationError when the ledger can't be used: of another run, target or version, damaged, used by another
 *   run just now, or not writable
 * @throws AwardRunStoppedError when the run ended before its last row: after an abort, a 401, a service that can't be
 *   reached, a ledger that fails, a list that throws, a row that contradicts another one, or twenty equal refusals before
 *   any success. Its `report` has the rows until then
 */
export async function rewardWallets(
  client: Pick<CampaignClient, 'rewardWallet'>,
  rows: Rows<AwardRow>,
  options: RewardWalletsOptions,
): Promise<AwardReport> {
  const { ledger, signal, concurrency, onProgress, strict, retryRejected, confirm, isUsedId } =
    readRewardWalletsOptions(client, options)
  const recorder = new Recorder()
  const source = new RowSource(rows)
  const inside = clientInternals(client)
  const stopped = ({ cause, why }: StopReason): AwardRunStoppedError => {
    const said = quotable(cause)
    const text = `rewardWallets stopped, because ${said === undefined ? why : `${why}: ${said}`}. To go on, run it again with the same ledger`
    return new AwardRunStoppedError(text, { cause, report: recorder.report(source.read, false) })
  }

  let session: LedgerSession
  try {
    signal?.throwIfAborted()
    session = await ledger[LEDGER].open(await inside?.target('rewardWallets', signal))
  } catch (error) {
    await source.close()
    if (signal?.aborted) throw stopped({ cause: signal.reason, why: ABORTED })
    if (error instanceof ConfigurationError) throw error
    throw stopped({ cause: error, why: 'it could not begin' })
  }

  const pause = new Pause()
  const total = lengthOf(rows)
  const progress = new ProgressReporter(onProgress, () => ({
    rows: source.read,
    total: (source.isEnded ? source.read : total) ?? null,
    counts: recorder.tally.counts,
    xp: recorder.tally.xp,
    waitingMs: pause.remainingMs,
  }))
  const run = new Run({
    client,
    session,
    recorder,
    progress,
    pause,
    concurrency: concurrency ?? DEFAULT_CONCURRENCY,
    evidence: { confirm, isUsedId },
    retryRejected: retryRejected ?? false,
    refusals: (row) => inside?.refusalsOfAward({ ...row }) ?? [],
  })
  const onAbort = () => run.stop(ABORTED, signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort()
  try {
    const checked = strict ? await run.check(source) : source
    await run.send(checked)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await session.close().catch((error: unknown) => run.stop('the ledger failed', error))
  }
  progress.finish()
  if (run.stopped !== undefined) throw stopped(run.stopped)
  return recorder.report(source.read, source.isEnded)
}

const DEFAULT_CONCURRENCY = 8
const ABORTED = 'it was aborted'
