import { type CampaignClient, ConfigurationError } from 'campaign-client'
import { AwardRunStoppedError, confirmFromProgress, type FileLedger, rewardWallets } from 'campaign-client/bulk'
import { shellWord } from '../../shared/text.ts'
import { readProfile, targetOf } from '../check/profile.ts'
import type { Context } from '../command.ts'
import { currentTokenOf, normalBaseUrlOf } from '../environment.ts'
import { adviceOn, CommandFailure, EXIT, type ExitCode, exitCodeOf, toFailure, withoutDocsPath } from '../failure.ts'
import { isSystemError, systemReason } from '../files.ts'
import { dim, plainLine } from '../output.ts'
import { hasUnknownOutcome, makePlan, type Plan, planFields, planLines, recordedEntries } from './plan.ts'
import { progressDisplay } from './progress-display.ts'
import { type ProgressFormat, progressFormatOf } from './progress-format.ts'
import { confirmPlan, type QuestionFlags } from './question.ts'
import { writeReports } from './report-files.ts'
import { listReport } from './report-table.ts'
import { type EndedRun, exitCodeOfRun, nextStep, reportFields, summaryLines } from './summary.ts'

export interface SendFlags extends QuestionFlags {
  readonly concurrency: number
  /** In milliseconds. */
  readonly patience: number
  readonly report?: readonly string[]
  readonly profile?: string
}

/** Shows the plan, asks for confirmation, sends the awards and reports the verdicts. */
export async function sendAwards(
  client: CampaignClient,
  ledger: FileLedger,
  plan: Plan,
  format: ProgressFormat,
  flags: SendFlags,
  context: Context,
): Promise<ExitCode> {
  const { output, argv, interrupts } = context
  for (const parts of planLines(plan)) output.err.line(...parts)
  await confirmPlan(plan, flags)

  const ended = await run(client, ledger, plan, flags, format, context)
  const { report, stop } = ended
  const next = nextStep(report, stop, argv)
  const lines = summaryLines(ended, format)
  const exitCode = exitCodeOfRun(ended)
  const error = stop && { code: stop.code, message: stop.message, exitCode }
  const fields = { ...reportFields(report, plan), ...planFields(plan), ...(error && { error }), ...(next && { next }) }
  const entries = await recordedEntries(plan)
  const failures = await writeReports(flags.report ?? [], {
    fields: { ...fields, exitCode },
    lines: [...planLines(plan), ...lines, ...(next ? [[`next: ${next}`]] : [])].map(plainLine),
    table: () => listReport(plan.list, entries, []),
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

const INTERRUPTED = 'interrupted'

/** Reads the format of progress from a profile of `check`. @throws CommandFailure when the profile has another target */
export async function readProgressFormat(
  profile: string | undefined,
  { env, output }: Context,
): Promise<ProgressFormat> {
  if (profile === undefined) return progressFormatOf()
  const target = targetOf(normalBaseUrlOf(env), currentTokenOf(env))
  const { award } = await readProfile(profile, target, undefined, (message) => output.err.line('warning  ', message))
  return progressFormatOf(award)
}

/** Sends the awards. After a signal, waits for the awards in flight and sends no others. */
async function run(
  client: CampaignClient,
  ledger: FileLedger,
  plan: Plan,
  { concurrency, patience }: SendFlags,
  { platform, amounts }: ProgressFormat,
  { output, interrupts, env }: Context,
): Promise<EndedRun> {
  const { list, retryRejected } = plan
  // Another run may have changed the ledger while the user read the plan.
  const planAtStart = await makePlan(list, plan)
  const { signal } = interrupts
  const display = progressDisplay(list.rows.length, output, env)
  const onSignal = () => display.say('waiting for the awards in flight; press Ctrl-C again to stop at once')
  signal.addEventListener('abort', onSignal)
  try {
    const report = await rewardWallets(client, list.rows, {
      ledger,
      concurrency,
      patienceMs: patience,
      retryRejected,
      confirm: confirmFromProgress(client, { platform, amounts }),
      onProgress: (progress) => display.show(progress),
      signal,
    })
    return { report, planAtStart, isInDoubt: false }
  } catch (error) {
    if (!(error instanceof AwardRunStoppedError)) {
      const cause = error instanceof Error && error.cause
      if (!isSystemError(cause)) throw ledgerRefusal(error)
      // The run could not start.
      throw ledgerFailure(cause, hasUnknownOutcome(planAtStart) ? EXIT.unknownOutcome : EXIT.usage)
    }
    const isInterrupted = signal.aborted && error.cause === signal.reason
    const stop = isInterrupted
      ? new CommandFailure(EXIT.incomplete, INTERRUPTED, `interrupted by ${interrupts.received}`)
      : await stopFailure(error, env)
    const after = await makePlan(list, plan).catch(() => planAtStart)
    return { report: error.report, planAtStart, stop, isInDoubt: hasUnknownOutcome(after) }
  } finally {
    signal.removeEventListener('abort', onSignal)
    display.stop()
  }
}

/** Names the flag instead of the option in the error of a ledger that belongs to another target. */
export function ledgerRefusal(error: unknown): unknown {
  if (!(error instanceof ConfigurationError)) return error
  const message = withoutDocsPath(error.message)
    .replace(/pass rebind: \{ from: (".*") \}/, (_, from: string) => `add --rebind ${shellWord(JSON.parse(from))}`)
    .replace(/\brebind\.from\b/, '--rebind')
  return new CommandFailure(EXIT.usage, error.code, message)
}

/** The failure of a run that could not write its ledger. */
const ledgerFailure = (cause: NodeJS.ErrnoException, exitCode: ExitCode = EXIT.usage): CommandFailure =>
  new CommandFailure(exitCode, 'ledger', `the ledger cannot be written: ${systemReason(cause)}`, {
    advice: 'make the ledger writable',
  })

/** Converts the reason why a run stopped to a failure. */
async function stopFailure({ cause, message }: AwardRunStoppedError, env: NodeJS.ProcessEnv): Promise<CommandFailure> {
  if (isSystemError(cause)) return ledgerFailure(cause)
  const failure = await toFailure(cause, env)
  if (failure === cause || failure.exitCode === EXIT.internal) return failure
  const { code } = failure
  // Do not use `failure.exitCode`: it may mean an unknown outcome, and `exitCodeOfRun` takes outcomes from the report.
  const exitCode = exitCodeOf(code)
  // If the service can't be reached, the message of the cause says enough. Otherwise use the message of the run.
  const text = exitCode === EXIT.unreachable && cause instanceof Error ? cause.message : message
  const sentence = withoutDocsPath(text)
    .replace(/^rewardWallets stopped: /, '')
    .replace(/\. (?:To continue|Correct the rows).*$/s, '')
  const { systemCode } = cause as { readonly systemCode?: string }
  return new CommandFailure(exitCode, code, sentence, { advice: adviceOn({ code, systemCode }, env) })
}
