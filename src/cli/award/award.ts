import { existsSync } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import { type FileLedger, fileLedger } from '../../bulk/ledger/file-ledger.ts'
import { LEDGER } from '../../bulk/ledger/ledger.ts'
import { type ClientTarget, clientInternals } from '../../shared/client-internals.ts'
import type { Context } from '../command.ts'
import {
  allowedCampaignsOf,
  baseUrlOf,
  connect,
  hasConnection,
  isReadOnly,
  readOnlyFailure,
  refuseExpiredToken,
  requireAllowedCampaign,
  tokenFilesOf,
} from '../connection.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { inputName, outputFailure, readInput } from '../files.ts'
import { plainLine } from '../output.ts'
import { askService, readProgressFormat } from './ask-service.ts'
import type { ColumnNames } from './cells.ts'
import { planRefusal } from './confirm-plan.ts'
import { formatNumber, formatXp } from './format.ts'
import { type AwardList, listFailure, parseList, problemLines, sortedProblems } from './list.ts'
import { compareLedgers } from './other-ledgers.ts'
import {
  type LedgerContents,
  ledgerRefusal,
  type Plan,
  planAwards,
  planFields,
  planLines,
  readContents,
  skipInvalid,
} from './plan.ts'
import type { ListProblem, RowRules } from './read-row.ts'
import { checkReportPaths, fileReport, listReport, writeReports } from './report.ts'
import { type SendFlags, sendAwards } from './send.ts'

export interface AwardFlags extends SendFlags {
  readonly columns?: ColumnNames
  readonly pid?: string
  readonly run: string
  readonly rebind?: string
  readonly dryRun?: boolean
  readonly expect?: string
  readonly maxXp?: number
  readonly maxTotalXp?: number
  readonly retryRejected?: boolean
  readonly skipInvalid?: boolean
  readonly readOnly?: boolean
}

/** About three million rows. */
const MAX_LIST_BYTES = 256_000_000

/** Checks the list, shows the plan, and sends the awards. */
export async function award(name: string, flags: AwardFlags, context: Context): Promise<ExitCode> {
  const { env } = context
  const { pid, maxXp, dryRun, run, rebind, retryRejected = false, report = [] } = flags
  requireSqlite()
  if (isReadOnly(env, flags.readOnly) && !dryRun) throw readOnlyFailure('award')
  if (flags.skipInvalid && flags.yes && !dryRun && flags.expect === undefined) {
    throw usageFailure('--skip-invalid with --yes needs --expect', 'pass the sha256 of the plan that --dry-run shows')
  }
  // Without an environment, a dry run checks only the list and the ledger.
  const isOffline = dryRun === true && !hasConnection(env)
  const baseUrl = isOffline ? undefined : baseUrlOf(env)
  if (!isOffline) refuseExpiredToken(env)
  if (pid !== undefined) requireAllowedCampaign(env, pid, `awards in ${JSON.stringify(pid)}, the campaign of --pid`)
  const allowed = allowedCampaignsOf(env)
  const ledger = flags.ledger ?? (await defaultLedger(name))
  const inputs = [name, ...tokenFilesOf(env), ...(flags.profile === undefined ? [] : [flags.profile])]
  await checkReportPaths(report, [...inputs, ledger, `${ledger}-wal`])

  const list = await readList(name, { pid, allowed, maxXp, columns: flags.columns }, report)
  const wholePlan = planAwards(list, await readContents(ledger), { ledger, run, baseUrl, retryRejected })
  const plan = flags.skipInvalid ? skipInvalid(wholePlan) : wholePlan
  const problems = sortedProblems([...plan.list.problems, ...plan.problems, ...totalProblems(flags.maxTotalXp, plan)])
  if (problems.length > 0) return refuseList(plan, problems, report)
  requireExpected(flags.expect, plan)
  const client = isOffline ? undefined : await connect(env)
  const recording = fileLedger(ledger, { run, rebind: rebind === undefined ? undefined : { from: rebind } })
  const target = await clientInternals(client)?.target('award', undefined)
  await requireUsable(recording, plan.contents, target)
  const format = client && (await readProgressFormat(flags.profile, context))
  const complete = async (current: Plan): Promise<Plan> => ({
    ...current,
    ...(current.recorded.awards === 0 && {
      elsewhere: await compareLedgers(plan.list, ledger, target, context.interrupts),
    }),
    ...(client && format && current.toSend.awards > 0 && { asked: await askService(client, current, format.platform) }),
  })
  const completed = await complete(plan)
  if (client === undefined || format === undefined || dryRun) return showPlan(completed, flags, context)
  return sendAwards({ client, ledger: recording, format, flags, context, complete }, completed)
}

/** @throws CommandFailure when this Node.js has no node:sqlite, which the ledger needs */
function requireSqlite(): void {
  // Do not load the module: Node.js 22 prints a warning when it is loaded.
  if (isBuiltin('node:sqlite')) return
  throw usageFailure(`award needs Node.js 22.13 or newer, for its ledger in SQLite: this is ${process.version}`)
}

/** @throws CommandFailure when the ledger cannot be created, or belongs to another run, base URL or account */
async function requireUsable(
  ledger: FileLedger,
  { header }: LedgerContents,
  target: ClientTarget | undefined,
): Promise<void> {
  if (!existsSync(ledger.path)) {
    await access(dirname(ledger.path), constants.W_OK).catch((error: unknown) => {
      throw outputFailure('--ledger', ledger.path, error)
    })
  }
  try {
    if (header !== undefined) ledger[LEDGER].check(header, target)
  } catch (error) {
    throw ledgerRefusal(error)
  }
}

/** Returns the default ledger, beside the list. @throws CommandFailure when the list is not a file */
async function defaultLedger(name: string): Promise<string> {
  const stats = await stat(name).catch(() => undefined)
  const isPipe = stats && !stats.isFile() && !stats.isDirectory()
  if (name !== '-' && !isPipe) return `${name}.ledger`
  throw usageFailure(`the list comes from ${inputName(name)}, so --ledger must name the ledger`)
}

/** Reads the list. Writes the reports if the file is not a list of awards. @throws CommandFailure then */
async function readList(name: string, rules: RowRules, reports: readonly string[]): Promise<AwardList> {
  const bytes = await readInput(name, MAX_LIST_BYTES)
  try {
    return parseList(name, bytes, rules)
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    const problems: ListProblem[] = [{ rule: 'file', message: error.message }]
    throw await reportRefusal(error, problems, reports, () => [fileReport(error.message)])
  }
}

/** Writes the reports of a list with mistakes. @throws CommandFailure always */
async function refuseList(plan: Plan, problems: readonly ListProblem[], reports: readonly string[]): Promise<never> {
  const { list, contents } = plan
  throw await reportRefusal(listFailure(list.name, problems), problems, reports, () =>
    listReport(list, contents.entries, problems),
  )
}

/** Writes the reports of a refused list. Returns the failure. */
async function reportRefusal(
  failure: CommandFailure,
  problems: readonly ListProblem[],
  reports: readonly string[],
  table: () => Iterable<string>,
): Promise<CommandFailure> {
  const { code, message, exitCode, details } = failure
  const fields = { problems, ...details.result, error: { code, message, exitCode }, exitCode }
  const failures = await writeReports(reports, { fields, lines: [...problemLines(problems), message], table })
  const lines = [...(details.lines ?? []), ...failures.map(({ message: text }) => text)]
  return new CommandFailure(exitCode, code, message, { ...details, lines })
}

/** Returns a problem if the XP of a list exceed `--max-total-xp`. */
function totalProblems(maxTotalXp: number | undefined, { total: { xp } }: Plan): ListProblem[] {
  if (maxTotalXp === undefined || xp <= maxTotalXp) return []
  return [
    {
      rule: 'max_total_xp',
      message: `the list has ${formatXp(xp)} in total, but --max-total-xp is ${formatNumber(maxTotalXp)}`,
    },
  ]
}

/** @throws CommandFailure when the plan is another one than `--expect` names */
function requireExpected(expected: string | undefined, plan: Plan): void {
  if (expected === undefined || plan.sha256.startsWith(expected)) return
  throw new CommandFailure(
    EXIT.usage,
    'usage',
    `the list is another one than --expect names: its sha256 is ${plan.sha256}`,
    { advice: 'compare the list with the one that was reviewed', result: planFields(plan) },
  )
}

/** Shows the plan of a dry run, and ends as the run with `--yes` would before it sends. */
async function showPlan(plan: Plan, flags: AwardFlags, { output }: Context): Promise<ExitCode> {
  const fields = { dryRun: true, ...planFields(plan) }
  const lines = planLines(plan)
  const refusal = planRefusal(plan, flags)
  const [failure] = await writeReports(flags.report ?? [], {
    fields: { ...fields, exitCode: refusal?.exitCode ?? EXIT.done },
    lines: lines.map(plainLine),
    table: () => listReport(plan.list, plan.contents.entries, []),
  })
  if (refusal !== undefined) {
    for (const parts of lines) output.err.line(...parts)
    throw refusal
  }
  output.result({ ...fields, exitCode: failure?.exitCode ?? EXIT.done }, (out) => {
    for (const parts of lines) out.line(...parts)
  })
  output.err.line('dry run: nothing was sent')
  if (failure) throw failure
  return EXIT.done
}
