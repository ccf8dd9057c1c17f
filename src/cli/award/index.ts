import { stat } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import type { Command, Context } from '../commands.ts'
import {
  accessTokenOf,
  allowedCampaignsOf,
  baseUrlOf,
  isReadOnly,
  readOnlyFailure,
  requireAllowedCampaign,
} from '../environment.ts'
import { EXIT, type ExitCode, usageFailure } from '../failure.ts'
import { inputName, readInput } from '../files.ts'
import { decimal, RepeatableOption, text, wholeNumber } from '../flags.ts'
import { plainLine } from '../output.ts'
import { listFailure, parseList, totalsOf } from './parse-list.ts'
import { makePlan, type Plan, planFields, planLines } from './plan.ts'
import { checkReportPaths, writeReports } from './report-files.ts'
import { type SendFlags, sendAwards } from './send-awards.ts'

interface AwardFlags extends SendFlags {
  readonly pid?: string
  readonly ledger?: string
  readonly run: string
  readonly dryRun?: boolean
  readonly maxXp?: number
  readonly maxTotalXp?: number
  readonly retryRejected?: boolean
  readonly readOnly?: boolean
}

const LIST_EXAMPLE = `
Example of a list:
  address,xp,reason
  0x52908400098527886E0F7030069857D2E4169EE7,250,launch party`

/** `campaign-client award` */
export function define(command: Command, context: Context): void {
  command
    .usage('FILE.csv [options]')
    .description(
      'Awards the wallets of a CSV file. Each row is awarded once, also if you run the command again. The first line ' +
        'names the columns: address, xp, id or reason, and pid unless --pid is given. All rows are checked before the ' +
        'first one is sent.',
    )
    .argument('<file>', 'CSV file; - for standard input')
    .option('--pid <pid>', 'campaign ID of all rows', text)
    .option(
      '--ledger <file>',
      'file that records the awards; use the same file to continue (default: FILE.csv.ledger)',
      text,
    )
    .option('--run <name>', 'name of the run in the ledger', text, 'default')
    .option('--dry-run', 'check the list and show the plan, send nothing')
    .option('--yes', 'do not ask for confirmation')
    .option('--again', 'allow wallets that were awarded in the same campaign under another id')
    .option('--max-xp <number>', 'refuse a list with more XP in one row', amount)
    .option('--max-total-xp <number>', 'refuse a list with more XP in total', amount)
    .option('--concurrency <n>', 'maximum number of awards in flight', wholeNumber(1, 1_000), 8)
    .option('--retry-rejected', 'send rejected awards again')
    .addOption(new RepeatableOption('--report <file>', 'write a report: .json, .csv or .txt', text))
    .option('--profile <file>', 'profile of `check --save`, to find awards with an unknown outcome', text)
    .option('--read-only', 'refuse to send; allows --dry-run')
    .examples(
      'award party.csv --pid demo --dry-run',
      'award party.csv --pid demo --max-xp 500 --max-total-xp 100000',
      'award party.csv --pid demo --yes --report report.json --report report.txt',
    )
    .addHelpText('after', LIST_EXAMPLE)
    .run((file: string, flags: AwardFlags) => award(file, flags, context))
}

function amount(given: string): number {
  const value = decimal(given)
  if (value >= 0) return value
  throw new InvalidArgumentError('It must not be negative.')
}

/** About three million rows. */
const MAX_LIST_BYTES = 256_000_000

async function award(name: string, flags: AwardFlags, context: Context): Promise<ExitCode> {
  const { env } = context
  const { pid, maxXp, dryRun, run, retryRejected = false, report = [] } = flags
  if (isReadOnly(env, flags.readOnly) && !dryRun) throw readOnlyFailure('award')
  const baseUrl = dryRun ? undefined : baseUrlOf(env)
  if (!dryRun) accessTokenOf(env)
  if (pid !== undefined) requireAllowedCampaign(env, pid, `awards in ${JSON.stringify(pid)}, the campaign of --pid`)
  const allowed = allowedCampaignsOf(env)
  const ledger = flags.ledger ?? (await defaultLedger(name))
  const inputs = [name, flags.profile, env.CAMPAIGN_ACCESS_TOKEN_FILE].filter((path) => path !== undefined)
  await checkReportPaths(report, [...inputs, ledger, `${ledger}.lock`])

  const list = parseList(name, await readInput(name, MAX_LIST_BYTES), { pid, allowed, maxXp })
  const plan = await makePlan(list, { ledger, run, baseUrl, retryRejected })
  checkTotalXp(flags.maxTotalXp, plan)
  if (list.problems.length > 0) throw listFailure(list)
  return dryRun ? showPlan(plan, report, context) : sendAwards(plan, flags, context)
}

/** Returns the default ledger, beside the list. @throws CommandFailure when the list is not a file */
async function defaultLedger(name: string): Promise<string> {
  const stats = await stat(name).catch(() => undefined)
  const isPipe = stats && !stats.isFile() && !stats.isDirectory()
  if (name !== '-' && !isPipe) return `${name}.ledger`
  throw usageFailure(`the list comes from ${inputName(name)}, so --ledger must name the ledger`)
}

/** Adds a problem to the list if its XP exceeds `--max-total-xp`. */
function checkTotalXp(maxTotalXp: number | undefined, { list }: Plan): void {
  const { xp } = totalsOf(list.awards.values())
  if (maxTotalXp === undefined || xp <= maxTotalXp) return
  list.problems.push({ message: `the list has ${xp} XP in total, but --max-total-xp is ${maxTotalXp}` })
}

async function showPlan(plan: Plan, reports: readonly string[], { output }: Context): Promise<ExitCode> {
  const fields = { dryRun: true, ...planFields(plan) }
  const lines = planLines(plan)
  const [failure] = await writeReports(reports, { fields, lines: lines.map(plainLine), plan })
  output.result(fields, (out) => {
    for (const parts of lines) out.line(...parts)
  })
  output.err.line('dry run: nothing was sent')
  if (failure) throw failure
  return EXIT.done
}
