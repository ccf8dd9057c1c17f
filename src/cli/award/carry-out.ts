import type { CampaignClient } from 'campaign-client'
import type { AwardReport, AwardRow, AwardRunStoppedError } from 'campaign-client/bulk'
import { connect } from '../connection.ts'
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts'
import type { Frame } from '../frame.ts'
import { plainLine } from '../output.ts'
import { commandLine } from './command-line.ts'
import { type Plan, planFields, planLines } from './plan.ts'
import { progressTeller } from './progress.ts'
import { confirmPlan } from './question.ts'
import { writeReports } from './report-files.ts'
import { reportRows } from './report-rows.ts'
import { describeStop } from './stop.ts'
import { exitCodeOfReport, reportFields, summaryLines } from './summary.ts'

export interface RunFlags {
  readonly yes?: boolean
  readonly again?: boolean
  readonly maxXp?: number
  readonly concurrency: number
  readonly retryRejected?: boolean
  readonly report?: readonly string[]
}

/** Shows the plan, asks, sends, and says what became of it. */
export async function carryOut(plan: Plan, flags: RunFlags, frame: Frame): Promise<ExitCode> {
  const { output, argv, interrupts, env } = frame
  // What is wrong with address and token is told before anybody is asked.
  const client = await connect(env, {
    guard: { campaigns: [...plan.list.pids], ...(flags.maxXp !== undefined && { maxXpPerAward: flags.maxXp }) },
  })
  for (const parts of planLines(plan)) output.err.line(...parts)
  await confirmPlan(plan, flags)
  const goOn = `to go on: ${commandLine(argv)}`
  const ended = await send(client, plan, flags, frame)
  const { received } = interrupts
  if (ended.stopped === undefined) {
    const { report } = ended
    const exitCode = exitCodeOfReport(report)
    const advice = exitCode === EXIT.done || (exitCode === EXIT.notAll && report.complete) ? undefined : goOn
    const { fields, isWritten } = await tell({ report, exitCode }, plan, flags, frame)
    const last = exitCode === EXIT.done && !isWritten ? EXIT.notAll : exitCode
    output.result({ ...fields, exitCode: last }, () => undefined)
    if (advice !== undefined) output.err.line(advice)
    return last
  }

  const { stopped } = ended
  const isInterrupted = received !== undefined && stopped.cause === interrupts.signal.reason
  const failure = isInterrupted
    ? new CommandFailure(EXIT.notAll, 'interrupted', `ended by ${received}`, goOn)
    : await describeStop(stopped, goOn)
  const { exitCode, code, message, advice } = failure
  const error = { code, message, ...(advice && { advice }), exitCode }
  const { fields } = await tell({ report: stopped.report, exitCode, error }, plan, flags, frame)
  if (!isInterrupted) throw new CommandFailure(exitCode, code, message, advice, fields)
  output.result(fields, () => undefined)
  output.err.line(goOn)
  interrupts.dieOf(received)
  return exitCode
}

type Ended = { readonly report: AwardReport; readonly stopped?: never } | { readonly stopped: AwardRunStoppedError }

/** Sends what is to be sent. A signal stops it in order: what was begun is settled. */
async function send(
  client: CampaignClient,
  plan: Plan,
  flags: RunFlags,
  { output, interrupts, env }: Frame,
): Promise<Ended> {
  const { list, ledger, run } = plan
  const { AwardRunStoppedError, fileLedger, rewardWallets } = await import('campaign-client/bulk')
  const teller = await progressTeller(list.lines.length, output, env)
  const { signal } = interrupts
  const onSignal = () => teller.say('settling what was begun; Ctrl-C again ends at once')
  signal.addEventListener('abort', onSignal)
  try {
    const report = await rewardWallets(client, list.rows(), {
      ledger: fileLedger(ledger, { run }),
      concurrency: flags.concurrency,
      retryRejected: flags.retryRejected ?? false,
      confirm: (row) => isRewarded(client, row),
      onProgress: (progress) => teller.tell(progress),
      signal,
    })
    return { report }
  } catch (error) {
    if (error instanceof AwardRunStoppedError) return { stopped: error }
    throw error
  } finally {
    signal.removeEventListener('abort', onSignal)
    teller.stop()
  }
}

/** Where a wallet's progress stands: assumed, the interface does not show it. */
const WALLET_PLATFORM = 'ethereum'

/**
 * Whether the wallet's own progress has the award. That it lists rewards by the ids of awards is assumed: so it proves an
 * award, and its silence proves nothing.
 */
async function isRewarded(client: CampaignClient, { address, pid, id }: AwardRow): Promise<true | undefined> {
  try {
    const { rewards } = await client.getUserProgress({ account: address, platform: WALLET_PLATFORM, pid })
    return rewards.some((reward) => reward.id === id) || undefined
  } catch {
    return undefined
  }
}

interface Told {
  readonly report: AwardReport
  readonly exitCode: ExitCode
  /** Why it ended before its rows did. */
  readonly error?: Readonly<Record<string, unknown>>
}

/** Shows the summary and writes the reports. */
async function tell(
  { report, exitCode, error }: Told,
  plan: Plan,
  { report: paths = [] }: RunFlags,
  { output }: Frame,
): Promise<{ fields: Readonly<Record<string, unknown>>; isWritten: boolean }> {
  const fields = { ...reportFields(report, plan.list), ...planFields(plan), exitCode, ...(error && { error }) }
  const summary = summaryLines(report, plan.list)
  if (!output.json) for (const parts of summary) output.out.line(...parts)
  const why = error === undefined ? [] : [[String(error.message)]]
  const failures = await writeReports(paths, {
    fields,
    lines: [...planLines(plan), ...why, ...summary].map(plainLine),
    rows: () => reportRows(plan.list, plan.ledger),
  })
  for (const failure of failures) output.err.line(failure.message)
  return { fields, isWritten: failures.length === 0 }
}
