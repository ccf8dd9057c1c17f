import { InvalidArgumentError, Option } from 'commander'
import { type Command, type Context, decimal, duration, RepeatableOption, text, wholeNumberFlag } from '../command.ts'
import type { AwardFlags } from './award.ts'
import { COLUMNS, type Column, type ColumnNames } from './cells.ts'

const LIST_EXAMPLE = `
Example of a list:
  address,xp,reason
  0x52908400098527886E0F7030069857D2E4169EE7,250,launch party`

/** `campaign-client award` */
export function define(command: Command, context: Context): void {
  command
    .usage('FILE.csv [options]')
    .description(
      'Awards the wallets of a CSV file. Each row is awarded once, even if you run the command again. The first line ' +
        'names the columns: address, xp, id or reason, and pid unless --pid is given. All rows are checked before the ' +
        'first one is sent.',
    )
    .argument('<file>', 'CSV file; - for standard input')
    .option('--pid <pid>', 'campaign ID of all rows', text)
    .option('--columns <names>', 'headings of the columns, for example address=Wallet,xp=Points', columnNames)
    .option(
      '--ledger <file>',
      'file that records the awards; use the same file to continue (default: FILE.csv.ledger)',
      text,
    )
    .option('--run <name>', 'name of the run in the ledger', text, 'default')
    .option('--rebind <from>', 'continue a ledger of another base URL or token account, as the error names it', text)
    .option('--dry-run', 'check the list and show the plan, send nothing')
    .option('--expect <hex>', 'refuse any other plan than the one with this sha256: its first 12 digits or more', hash)
    .option('--yes', 'do not ask for confirmation')
    .option('--new', 'this list is a payout of its own, although another ledger has the same awards')
    .option('--again', 'allow wallets that were awarded in the same campaign under another id')
    .option('--max-xp <number>', 'refuse a list with more XP in one row', amount)
    .option('--max-total-xp <number>', 'refuse a list with more XP in total', amount)
    .option('--concurrency <n>', 'maximum number of awards in flight', wholeNumberFlag(1, 1_000), 8)
    .addOption(
      new Option('--patience <time>', 'how long to wait for a service that stops responding: 0s to 24h')
        .default(duration('10m'), '10m')
        .argParser(duration),
    )
    .option('--skip-invalid', 'leave out the rows with mistakes, and send the others')
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
    .run(async (file: string, flags: AwardFlags) => {
      const { award } = await import('./award.ts')
      return award(file, flags, context)
    })
}

function hash(given: string): string {
  if (/^[0-9a-f]{12,64}$/i.test(given)) return given.toLowerCase()
  throw new InvalidArgumentError('It must be 12 to 64 hex digits.')
}

function amount(given: string): number {
  const value = decimal(given)
  if (value >= 0) return value
  throw new InvalidArgumentError('It must not be negative.')
}

/** Parses `address=Wallet,xp=Points`. A heading may contain commas. */
function columnNames(given: string): ColumnNames {
  const names: Partial<Record<Column, string>> = {}
  for (const part of given.split(/,(?=\s*\w+=)/)) {
    const [, column = '', heading = ''] = /^\s*(\w+)=(.*)$/s.exec(part) ?? []
    if (!isColumn(column) || heading.trim() === '') {
      throw new InvalidArgumentError(`Use NAME=HEADING, separated by commas. A NAME is ${COLUMNS.join(', ')}.`)
    }
    if (names[column] !== undefined) throw new InvalidArgumentError(`${column} is given twice.`)
    names[column] = heading
  }
  return names
}

const isColumn = (name: string): name is Column => (COLUMNS as readonly string[]).includes(name)
