import { type Command, InvalidArgumentError } from 'commander'
import { accessTokenOf, baseUrlOf } from '../environment.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { collect, decimal, wholeNumber } from '../flags.ts'
import { examples, type Frame } from '../frame.ts'
import { plainLine } from '../output.ts'
import { carryOut } from './carry-out.ts'
import { ListFile } from './csv/list-file.ts'
import { readLedgerFacts } from './ledger-facts.ts'
import { type CheckedList, checkList } from './list.ts'
import { type Plan, planFields, planLines } from './plan.ts'
import { checkReportPaths, writeReports } from './report-files.ts'
import { reportRows } from './report-rows.ts'

export interface AwardFlags {
  readonly pid?: string
  readonly ledger?: string
  readonly run: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly again?: boolean
  readonly maxXp?: number
  readonly maxTotalXp?: number
  readonly concurrency: number
  readonly retryRejected?: boolean
  readonly report?: readonly string[]
}

/** `campaign-client award` */
export function define(command: Command, frame: Frame): void {
  command
    .usage('FILE.csv [options]')
    .description(
      'Awards the wallets of a CSV, each row once, however often it is run. The first line names the columns: address, ' +
        'xp, and id or reason; pid as well unless --pid gives it. Everything is checked before the first row is sent.',
    )
    .argument('<file>', 'the list, as CSV')
    .option('--pid <pid>', 'campaign ID of all rows', text)
    .option('--ledger <file>', 'what has been awarded; to go on, give the same one (default: FILE.csv.ledger)', text)
    .option('--run <name>', 'name of the run that the ledger belongs to', text, 'default')
    .option('--dry-run', 'check everything and show what would be done; nothing is sent')
    .option('--yes', 'do not ask')
    .option('--again', 'award wallets again that were awarded in this campaign under another id')
    .option('--max-xp <number>', 'refuse a list with a row above it', amount)
    .option('--max-total-xp <number>', 'refuse a list that comes to more in all', amount)
    .option('--concurrency <n>', 'how many awards are under way at once', wholeNumber(1, 1_000), 8)
    .option('--retry-rejected', 'send what the service has rejected before again')
    .option('--report <file>', 'write a report: .json, .csv or .txt; may be repeated', collect(text))
    .addHelpText(
      'after',
      `${examples(
        'award party.csv --pid demo --dry-run',
        'award party.csv --pid demo --max-xp 500 --max-total-xp 100000',
        'award party.csv --pid demo --yes --report report.json --report report.txt',
      )}

A list:
  address,xp,reason
  0x52908400098527886E0F7030069857D2E4169EE7,250,launch party`,
    )
    .action(frame.action((file: string, flags: AwardFlags) => award(file, flags, frame)))
}

function text(given: string): string {
  if (given.trim() !== '') return given
  throw new InvalidArgumentError('It must not be empty.')
}

function amount(given: string): number {
  const value = decimal(given)
  if (value >= 0) return value
  throw new InvalidArgumentError('It must not be negative.')
}

async function award(name: string, flags: AwardFlags, frame: Frame): Promise<ExitCode> {
  const { env } = frame
  const ledger = flags.ledger ?? `${name}.ledger`
  const baseUrl = flags.dryRun ? undefined : baseUrlOf(env)
  if (!flags.dryRun) accessTokenOf(env)
  await checkReportPaths(flags.report ?? [], [name, ledger, `${ledger}.lock`])
  const file = await ListFile.open(name)
  try {
    const { list, facts } = await readPlan(file, ledger, flags)
    const plan: Plan = { list, facts, ledger, run: flags.run, baseUrl }
    return await (flags.dryRun ? dryRun(plan, flags, frame) : carryOut(plan, flags, frame))
  } finally {
    await file.close()
  }
}

async function readPlan(file: ListFile, ledger: string, flags: AwardFlags): Promise<Pick<Plan, 'list' | 'facts'>> {
  const { pid, maxXp, retryRejected = false } = flags
  const { rewardId } = await import('campaign-client/bulk')
  const { list, holders } = await checkList(file, { pid, maxXp, rewardId })
  const facts = await readLedgerFacts(ledger, list, holders, retryRejected)
  requireRight(list, flags)
  return { list, facts }
}

/** @throws CommandFailure with everything that is wrong with the list */
function requireRight({ problems, xp, file }: CheckedList, { maxTotalXp }: AwardFlags): void {
  if (maxTotalXp !== undefined && xp > maxTotalXp) {
    problems.add({ message: `the list comes to ${xp} XP, more than the ${maxTotalXp} of --max-total-xp` })
  }
  if (problems.count > 0) throw problems.failure(file.name)
}

async function dryRun(plan: Plan, { report = [] }: AwardFlags, { output }: Frame): Promise<ExitCode> {
  const fields = { dryRun: true, ...planFields(plan) }
  const lines = planLines(plan)
  const failures = await writeReports(report, {
    fields,
    lines: lines.map(plainLine),
    rows: () => reportRows(plan.list, plan.ledger),
  })
  output.result(fields, (out) => {
    for (const parts of lines) out.line(...parts)
  })
  output.err.line('nothing was sent')
  for (const failure of failures) throw failure
  return EXIT.done
}
