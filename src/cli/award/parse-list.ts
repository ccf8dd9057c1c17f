import { createHash } from 'node:crypto'
import type { AwardRow } from 'campaign-client/bulk'
import { addDecimals } from '../../shared/decimals.ts'
import { CommandFailure, EXIT, usageFailure } from '../failure.ts'
import { inputName } from '../files.ts'
import { decodeText } from './csv/decode-text.ts'
import { type Columns, readColumns } from './csv/read-columns.ts'
import { readRecords } from './csv/read-records.ts'
import { type ListProblem, type RowRules, readRow } from './csv/read-row.ts'

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
      `${inputName(name)}${syntaxError ? `: line ${syntaxError.line} ${syntaxError.message}` : ' is empty'}`,
    )
  }
  if (syntaxError !== undefined) problems.push(syntaxError)
  if (rows.length === 0 && problems.length === 0) throw usageFailure(`${inputName(name)} has no rows`)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { name, sha256, rows, awards, problems, unused: columns.unused }
}

/** Returns whether two rows with the same id are the same award. */
export const isSameAward = (one: AwardRow, other: AwardRow): boolean =>
  one.pid === other.pid && one.xp === other.xp && one.address.toLowerCase() === other.address.toLowerCase()

const contradiction = ({ line }: ListRow, first: ListRow, hasIds: boolean): ListProblem =>
  hasIds
    ? { line, column: 'id', message: `is the id of another award on line ${first.line}` }
    : { line, column: 'xp', message: `differs from line ${first.line}, which has the same wallet and reason` }

/** How many mistakes to list. The others are only counted. */
const MAX_PROBLEMS = 1_000

/** The failure for the mistakes of a list, sorted by line. */
export function listFailure({ name, problems }: AwardList): CommandFailure {
  const count = problems.length
  const sorted = [...problems].sort((one, other) => (one.line ?? 0) - (other.line ?? 0)).slice(0, MAX_PROBLEMS)
  const omitted = count - sorted.length
  const message = `${inputName(name)} has ${count === 1 ? 'a mistake' : `${count} mistakes`}: nothing was sent`
  return new CommandFailure(EXIT.usage, 'wrong_list', message, {
    result: { problems: sorted, problemsOmitted: omitted },
    lines: [...sorted.map(problemText), ...(omitted > 0 ? [`… and ${omitted} more`] : [])],
  })
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
