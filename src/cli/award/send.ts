import type { CampaignClient } from 'campaign-client'
import type { AwardReport } from 'campaign-client/bulk'
import { readProfile, targetOf } from '../check/profile.ts'
import { connect } from '../connection.ts'
import type { Context } from '../context.ts'
import { accessTokenOf, addressOf } from '../environment.ts'
import { CommandFailure, EXIT, type ExitCode } from '../failure.ts'
import { dim, plainLine } from '../output.ts'
import { type AwardEvidence, confirmAward, evidenceOf } from './confirm-award.ts'
import { confirmPlan } from './confirm-plan.ts'
import { describeStop, endLines, exitCodeOfRun, nextStep, reportFields } from './end.ts'
import { type Plan, planFields, planLines } from './plan.ts'
import { progressDisplay } from './progress.ts'
import { writeReports } from './reports.ts'
import { spanText } from './words.ts'

export interface SendFlags {
  readonly yes?: boolean
  readonly again?: boolean
  readonly concurrency: number
  readonly retryRejected?: boolean
  readonly report?: readonly string[]
  readonly profile?: string
}

/** Shows the plan, asks for confirmation, sends the awards and reports their verdicts. */
export async function sendAwards(plan: Plan, flags: SendFlags, context: Context): Promise<ExitCode> {
  const { output, argv, interrupts, env } = context
  // Creating the client checks the environment, so that a mistake is told before the question.
  const client = await connect(env)
  const evidence = await readEvidence(flags.profile, context)
  for (const parts of planLines(plan)) output.err.line(...parts)
  await confirmPlan(plan, flags)

  const { report, stop } = await run(client, plan, flags, evidence, context)
  const next = nextStep(report, stop, argv)
  const lines = endLines(report, plan, evidence, stop)
  const ended = exitCodeOfRun(report, stop)
  const error = stop && { code: stop.code, message: stop.message, exitCode: ended }
  const fields = { ...reportFields(report, plan), ...planFields(plan), ...(error && { error }), ...(next && { next }) }
  const failures = await writeReports(flags.report ?? [], {
    fields: { ...fields, exitCode: ended },
    lines: [...planLines(plan), ...lines, ...(next ? [[`next: ${next}`]] : [])].map(plainLine),
    plan,
  })
  const exitCode = ended === EXIT.done && failures.length > 0 ? EXIT.notAll : ended

  output.result({ ...fields, exitCode }, (out) => {
    for (const parts of lines) out.line(...parts)
  })
  for (const failure of failures) output.err.line(failure.message)
  if (next !== undefined) output.err.line(dim('next: '), next)
  if (stop?.code === INTERRUPTED && interrupts.received) interrupts.dieOf(interrupts.received)
  return exitCode
}

const INTERRUPTED = 'interrupted'

/** Reads what the profile of `check` says of awards. @throws CommandFailure when it belongs to another account */
async function readEvidence(profile: string | undefined, { env, output }: Context): Promise<AwardEvidence> {
  if (profile === undefined) return evidenceOf()
  const source = accessTokenOf(env)
  const target = targetOf(addressOf(env), typeof source === 'string' ? source : source())
  const { award } = await readProfile(profile, target, undefined, (message) => output.err.line('warning  ', message))
  return evidenceOf(award)
}

/** Sends the awards. A signal stops the run in order: awards that are under way are settled. */
async function run(
  client: CampaignClient,
  plan: Plan,
  { concurrency, retryRejected = false }: SendFlags,
  evidence: AwardEvidence,
  { output, interrupts, env }: Context,
): Promise<{ report: AwardReport; stop?: CommandFailure }> {
  const { AwardRunStoppedError, fileLedger, rewardWallets } = await import('campaign-client/bulk')
  const { list, ledger, run } = plan
  const { signal } = interrupts
  const display = progressDisplay(list.rows.length, output, env)
  const onSignal = () => display.say('settling the awards that are under way; Ctrl-C again ends at once')
  signal.addEventListener('abort', onSignal)
  try {
    const report = await rewardWallets(client, list.rows, {
      ledger: fileLedger(ledger, {
        run,
        onWait: ({ reason, maxMs }) => display.say(`${reason}; waiting up to ${spanText(maxMs)} for it`),
      }),
      concurrency,
      retryRejected,
      confirm: (row) => confirmAward(client, row, evidence),
      onProgress: (progress) => display.show(progress),
      signal,
    })
    return { report }
  } catch (error) {
    if (!(error instanceof AwardRunStoppedError)) throw error
    const isInterrupted = signal.aborted && error.cause === signal.reason
    const stop = isInterrupted
      ? new CommandFailure(EXIT.notAll, INTERRUPTED, `interrupted by ${interrupts.received}`)
      : await describeStop(error)
    return { report: error.report, stop }
  } finally {
    signal.removeEventListener('abort', onSignal)
    display.stop()
  }
}
