import { createHash } from 'node:crypto'
import type { AwardRow } from 'campaign-client/bulk'
import { addDecimals } from '../../shared/decimals.ts'
import { isSameAward } from '../../shared/same-award.ts'
import { CommandFailure, EXIT, usageFailure } from '../failure.ts'
import { inputName } from '../files.ts'
import { formatCount, formatNumber } from './format.ts'
import { type Columns, decodeText, readColumns, readRecords } from './read-csv.ts'
import { type ListProblem, type RowRules, RULES, readRow } from './read-row.ts'

export interface ListRow extends AwardRow {
  /** Its line in the file, from 1. */
  readonly line: number
}

/** A list of awards, with the mistakes in it. */
export interface AwardList {
  readonly name: string
  readonly sha256: string
  /** All rows, in the order of the file. */
  readonly rows: readonly ListRow[]
  /** The first row of each award, by id. */
  readonly awards: ReadonlyMap<string, ListRow>
  /** All mistakes, unsorted. */
  readonly problems: ListProblem[]
  /** The names of ignored columns. */
  readonly unused: readonly string[]
}

/** Parses a list and finds all mistakes in it. @throws CommandFailure when it is not a list of awards */
export function parseList(name: string, bytes: Uint8Array, rules: RowRules): AwardList {
  const rows: ListRow[] = []
  const awards = new Map<string, ListRow>()
  const problems: ListProblem[] = []
  let columns = undefined as Columns | undefined

  const add = (row: ListRow, hasIds: boolean): void => {
    rows.push(row)
    const first = awards.get(row.id)
    if (first === undefined) awards.set(row.id, row)
    else if (!isSameAward(first, row)) problems.push(contradiction(row, first, hasIds))
  }
  const syntaxError = readRecords(decodeText(bytes, inputName(name)), (record) => {
    if (columns === undefined) {
      columns = readColumns(record.cells, rules.pid)
      return
    }
    const read = readRow(record, columns, rules)
    if ('problems' in read) problems.push(...read.problems)
    else add({ ...read.row, line: record.line }, columns.places.id !== undefined)
  })
  if (columns === undefined) {
    throw usageFailure(
      `${inputName(name)}${syntaxError ? `: ${problemText({ rule: 'csv', ...syntaxError })}` : ' is empty'}`,
    )
  }
  if (syntaxError !== undefined) problems.push({ rule: 'csv', ...syntaxError })
  if (rows.length === 0 && problems.length === 0) throw usageFailure(`${inputName(name)} has no rows`)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { name, sha256, rows, awards, problems, unused: columns.unused }
}

const contradiction = ({ line }: ListRow, first: ListRow, hasIds: boolean): ListProblem =>
  hasIds
    ? {
        rule: 'id',
        line,
        column: 'id',
        message: `line ${first.line} has the same id, but another wallet, campaign or amount`,
      }
    : {
        rule: 'id',
        line,
        column: 'xp',
        message: `line ${first.line} has the same wallet and reason, but another amount`,
      }

/** How many mistakes the JSON has. The others are only counted. */
const MAX_PROBLEMS = 1_000
/** How many mistakes the terminal shows. */
const MAX_SHOWN = 20

/** Returns the mistakes of a list, sorted by line. */
export const sortedProblems = ({ problems }: AwardList): readonly ListProblem[] =>
  [...problems].sort((one, other) => (one.line ?? 0) - (other.line ?? 0))

/** The failure for the mistakes of a list. */
export function listFailure(list: AwardList): CommandFailure {
  const { name, sha256, problems } = list
  const sorted = sortedProblems(list)
  const count = problems.length
  const message = `${inputName(name)} has ${formatCount(count, 'mistake')}: nothing was sent`
  const listed = sorted.slice(0, MAX_PROBLEMS)
  const byRule = Object.fromEntries([...groupedByRule(sorted)].map(([rule, { length }]) => [rule, length]))
  return new CommandFailure(EXIT.usage, 'wrong_list', message, {
    result: { file: name, sha256, problems: listed, problemsOmitted: count - listed.length, problemsByRule: byRule },
    lines: problemLines(sorted, MAX_SHOWN),
  })
}

/** Formats the mistakes by rule: the number of each rule, and the first mistakes of all rules. */
export function problemLines(sorted: readonly ListProblem[], maxShown = sorted.length): string[] {
  const groups = [...groupedByRule(sorted)]
  const firsts = new Set(groups.map(([, [first]]) => first))
  // Show the first mistake of each rule, then the others by line.
  const shown = new Set([...new Set([...firsts, ...sorted])].slice(0, maxShown))
  return groups.flatMap(([rule, problems]) => {
    const listed = problems.filter((problem) => shown.has(problem))
    const others = problems.length - listed.length
    return [
      `${RULES[rule]}: ${formatCount(problems.length, 'mistake')}`,
      ...listed.map((problem) => `  ${problemText(problem)}`),
      ...(others > 0 ? [`  … and ${formatNumber(others)} more`] : []),
    ]
  })
}

const groupedByRule = (problems: readonly ListProblem[]): ReadonlyMap<ListProblem['rule'], ListProblem[]> => {
  const groups = new Map<ListProblem['rule'], ListProblem[]>()
  for (const problem of problems) {
    const group = groups.get(problem.rule)
    if (group === undefined) groups.set(problem.rule, [problem])
    else group.push(problem)
  }
  return groups
}

const problemText = ({ line, column, message }: ListProblem): string =>
  line === undefined ? message : `line ${line}${column === undefined ? '' : `, column ${column}`}: ${message}`

/** The number of awards and of different wallets, and the total XP. */
export interface Totals {
  readonly awards: number
  readonly wallets: number
  readonly xp: number
}

export function totalsOf(rows: Iterable<AwardRow>): Totals {
  const wallets = new Set<string>()
  let awards = 0
  let xp = 0
  for (const row of rows) {
    awards++
    wallets.add(row.address.toLowerCase())
    xp = addDecimals(xp, row.xp)
  }
  return { awards, wallets: wallets.size, xp }
}
