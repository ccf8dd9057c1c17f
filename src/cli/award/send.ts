import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import { confirmFromProgress } from '../../bulk/confirm-from-progress.ts'
import { EMPTY_STATE, type FileLedger } from '../../bulk/ledger/file-ledger.ts'
import { LEDGER, LEDGER_CHANGED } from '../../bulk/ledger/ledger.ts'
import { rewardWallets } from '../../bulk/run.ts'
import type { CampaignClient } from '../../client.ts'
import type { RewardWalletRequest } from '../../endpoints/reward-wallet.ts'
import { AwardRunStoppedError, partsOf } from '../../errors/bulk-errors.ts'
import type { CallOptions } from '../../options.ts'
import type { AwardReport } from '../../schemas/award-report.ts'
import { VERDICTS } from '../../shared/award.ts'
import { CLIENT_INTERNALS, clientInternals } from '../../shared/client-internals.ts'
import type { Context } from '../command.ts'
import { adviceOnError, baseUrlOf, toFailure } from '../connection.ts'
import { EXIT, type ExitCode, exitCodeOf } from '../exit-codes.ts'
import { CommandFailure } from '../failure.ts'
import { isSystemError, systemReason } from '../files.ts'
import { bold, dim, plainLine } from '../output.ts'
import type { ProgressFormat } from './ask-service.ts'
import { confirmPlan, type QuestionFlags } from './confirm-plan.ts'
import { exitCodeOfRun } from './exit-code.ts'
import { listFailure } from './list.ts'
import { hasUnknownOutcome, ledgerRefusal, type Plan, planAwards, planFields, planLines, readContents } from './plan.ts'
import { progressDisplay } from './progress-display.ts'
import { listReport, writeReports } from './report.ts'
import { awardSums, type EndedRun, nextStep, reportFields, summaryLines } from './summary.ts'

export interface SendFlags extends QuestionFlags {
  readonly concurrency: number
  /** In milliseconds. */
  readonly patience: number
  readonly report?: readonly string[]
  readonly profile?: string
}

/** The objects that send a plan. */
interface Sending {
  readonly client: CampaignClient
  readonly ledger: FileLedger
  readonly format: ProgressFormat
  readonly flags: SendFlags
  readonly context: Context
  /** Adds the findings of the other ledgers and the service to a plan. */
  readonly complete: (plan: Plan) => Promise<Plan>
}

/** Shows the plan, asks for confirmation, sends the awards and reports the verdicts. */
export async function sendAwards(sending: Sending, firstPlan: Plan): Promise<ExitCode> {
  const { format, flags, context } = sending
  const { output, argv, interrupts } = context
  const ended = await confirmAndRun(sending, firstPlan)
  const { report, plan, stop } = ended
  const next = nextStep(ended, argv)
  const sums = awardSums(ended)
  const lines = summaryLines(ended, sums, format)
  const exitCode = exitCodeOfRun(ended)
  const error = stop && { code: stop.code, message: stop.message, exitCode }
  const fields = {
    ...reportFields(report, plan),
    ...sums,
    ...planFields(plan),
    ...(error && { error }),
    ...(next && { next }),
  }
  const failures = await writeReports(flags.report ?? [], {
    fields: { ...fields, exitCode },
    lines: [...planLines(plan), ...lines, ...(next ? [[`next: ${next}`]] : [])].map(plainLine),
    table: async () => {
      // Without the entries of the run, the awards that it made would be `not_sent`, and could be sent again.
      if (ended.isLedgerLost) throw new Error('the ledger, which has the verdict of each row, is lost')
      return listReport(plan.list, (await readContents(plan.ledger)).entries, [])
    },
  })
  const finalExitCode = exitCode === EXIT.done && failures.length > 0 ? EXIT.incomplete : exitCode

  output.result({ ...fields, exitCode: finalExitCode }, (out) => {
    for (const parts of lines) out.line(...parts)
  })
  for (const failure of failures) output.err.line(failure.message)
  if (next !== undefined) output.err.line(dim('next: '), next)
  if (stop?.code === INTERRUPTED) interrupts.raise()
  return finalExitCode
}

/** Shows a plan, asks for confirmation and sends it. Does so again if the ledger has changed meanwhile. */
async function confirmAndRun(sending: Sending, firstPlan: Plan): Promise<EndedRun> {
  const { flags, context, complete } = sending
  const { output, interrupts } = context
  let plan = firstPlan
  for (;;) {
    for (const parts of planLines(plan)) output.err.line(...parts)
    await confirmPlan(plan, flags)
    const ended = await run(sending, plan)
    if (ended !== undefined) return ended
    // A signal ends the command at the next question.
    interrupts.stop()
    output.err.line(bold('another run has changed the ledger since this plan was made'), ': nothing was sent')
    plan = await complete(planAwards(plan.list, await readContents(plan.ledger), plan))
    if (plan.problems.length > 0) throw listFailure(plan.list.name, plan.problems)
  }
}

const INTERRUPTED = 'interrupted'

/**
 * Sends the awards. After a signal, waits for the awards in flight and sends no others. After the second one, aborts them.
 *
 * @returns `undefined` if the ledger has changed since the plan was made: nothing was sent
 */
async function run({ client, ledger, format, flags, context }: Sending, plan: Plan): Promise<EndedRun | undefined> {
  const { list, retryRejected } = plan
  const state = plan.contents.header?.state ?? EMPTY_STATE
  const { output, interrupts, env } = context
  const [signal, secondSignal] = [interrupts.abortOnFirst(), interrupts.abortOnSecond()]
  const display = progressDisplay(list.rows.length, output)
  const onSignal = () => display.say('waiting for the awards in flight; press Ctrl-C again to stop at once')
  signal.addEventListener('abort', onSignal)
  try {
    const report = await rewardWallets(abortable(client, secondSignal), list.rows, {
      ledger: openingAt(ledger, state),
      concurrency: flags.concurrency,
      patienceMs: flags.patience,
      retryRejected,
      confirm: confirmFromProgress(client, { platform: format.platform, amounts: format.amounts }),
      onProgress: (progress) => display.show(progress),
      signal,
    })
    return { report, plan, hasUnknownOutcome: false, isLedgerLost: isGone(plan.ledger, report) }
  } catch (error) {
    if (!(error instanceof AwardRunStoppedError)) {
      if (isLedgerChanged(error)) return undefined
      const cause = error instanceof Error && error.cause
      if (!isSystemError(cause)) throw ledgerRefusal(error)
      // The run could not start.
      throw ledgerFailure(cause, hasUnknownOutcome(list, plan.contents) ? EXIT.unknownOutcome : EXIT.usage)
    }
    const isInterrupted = signal.aborted && error.cause === signal.reason
    const stop = isInterrupted
      ? new CommandFailure(EXIT.interrupted, INTERRUPTED, `interrupted by ${interrupts.received}`)
      : stopFailure(error, baseUrlOf(env))
    return {
      report: error.report,
      plan,
      stop,
      hasUnknownOutcome: hasUnknownOutcome(list, await readContents(plan.ledger).catch(() => plan.contents)),
      isLedgerLost: isLedgerLost(error.cause) || isGone(plan.ledger, error.report),
    }
  } finally {
    signal.removeEventListener('abort', onSignal)
    display.stop()
  }
}

/** Returns the ledger for a run that starts only if the ledger is still in this state. */
const openingAt = (ledger: FileLedger, state: string): FileLedger => {
  const internals = ledger[LEDGER]
  return { ...ledger, [LEDGER]: { ...internals, open: (target) => internals.open(target, state) } }
}

const isLedgerChanged = (error: unknown): boolean => error instanceof Error && error.cause === LEDGER_CHANGED

/** Returns whether the ledger of a run with verdicts no longer exists. */
const isGone = (ledger: string, { counts }: AwardReport): boolean =>
  !existsSync(ledger) && VERDICTS.some((verdict) => counts[verdict] > 0)

const isLedgerLost = (error: unknown): boolean => error instanceof Error && partsOf(error).isLedgerLost === true

/** Returns the client with calls that end when `signal` is aborted. Their awards have an unknown outcome. */
function abortable(client: CampaignClient, signal: AbortSignal) {
  setMaxListeners(0, signal)
  return {
    [CLIENT_INTERNALS]: clientInternals(client),
    // Keep the run's options: they name the account whose tokens may be sent.
    rewardWallet: (award: RewardWalletRequest, options: CallOptions) =>
      client.rewardWallet(award, { ...options, signal }),
  }
}

/** The failure of a run that could not write its ledger. */
const ledgerFailure = (cause: NodeJS.ErrnoException, exitCode: ExitCode = EXIT.usage): CommandFailure =>
  new CommandFailure(exitCode, 'ledger', `the ledger cannot be written: ${systemReason(cause)}`, {
    advice: 'make the ledger writable',
  })

/** The `-wal` file of the lost ledger would damage the restored one. */
const RESTORE = 'restore the ledger from a backup, without the -wal file of the lost one'

/** Converts the reason why a run stopped to a failure. */
function stopFailure(error: AwardRunStoppedError, baseUrl: string): CommandFailure {
  const { cause } = error
  if (isSystemError(cause)) return ledgerFailure(cause)
  const failure = toFailure(cause, baseUrl)
  if (failure === cause || failure.exitCode === EXIT.internal) return failure
  const { code } = failure
  // Do not use `failure.exitCode`: it may mean an unknown outcome, and `exitCodeOfRun` takes outcomes from the report.
  const exitCode = exitCodeOf(code)
  // If the service can't be reached, the message of the cause says enough. Otherwise say why the run stopped.
  const isEnough = exitCode === EXIT.unreachable && code !== 'rate_limited' && cause instanceof Error
  const text = isEnough ? cause.message : (partsOf(error).text ?? error.message)
  const { systemCode } = cause as { readonly systemCode?: string }
  const advice = isLedgerLost(cause) ? RESTORE : adviceOnError({ code, systemCode }, baseUrl)
  return new CommandFailure(exitCode, code, text, { advice })
}
