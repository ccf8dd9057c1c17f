import { extname } from 'node:path'
import { stringify } from 'csv-stringify/sync'
import type { LedgerEntry } from '../../bulk/ledger/file-ledger.ts'
import { isSameAward } from '../../shared/award.ts'
import { toJsonText, toVisible } from '../../shared/text.ts'
import { type CommandFailure, usageFailure } from '../failure.ts'
import { checkOutputFile, outputFailure, replaceFile } from '../files.ts'
import { JSON_VERSION } from '../output.ts'
import { escapeFormula } from './cells.ts'
import type { AwardList } from './list.ts'
import { hasTooManyCells } from './read-csv.ts'
import type { ListProblem, ListRecord, ListRow } from './read-row.ts'

interface ReportContents {
  /** The content of `.json`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The content of `.txt`. */
  readonly lines: readonly string[]
  /** The content of `.csv`, in parts. */
  readonly table: () => Iterable<string> | Promise<Iterable<string>>
}

type ReportFormat = (contents: ReportContents) => ReturnType<ReportContents['table']>

/** By the extension of the report. */
const FORMATS: Readonly<Record<string, ReportFormat>> = {
  '.json': ({ fields }) => [`${toJsonText({ version: JSON_VERSION, ...fields })}\n`],
  '.csv': ({ table }) => table(),
  '.txt': ({ lines }) => [`${lines.map(toVisible).join('\n')}\n`],
}

/** @throws CommandFailure when the extension is unknown */
function formatOf(path: string): ReportFormat {
  const format = FORMATS[extname(path).toLowerCase()]
  if (format !== undefined) return format
  const known = Object.keys(FORMATS)
  throw usageFailure(`--report "${path}" must end in ${known.slice(0, -1).join(', ')} or ${known.at(-1)}`)
}

/** Checks the report paths. @throws CommandFailure when a report cannot be written or would replace a file of the run */
export async function checkReportPaths(paths: readonly string[], filesOfRun: readonly string[]): Promise<void> {
  for (const path of paths) {
    formatOf(path)
    await checkOutputFile('--report', path, filesOfRun)
  }
}

/** Writes each report completely or not at all, in the format of its extension. Returns the failures. */
export async function writeReports(paths: readonly string[], contents: ReportContents): Promise<CommandFailure[]> {
  const failures: CommandFailure[] = []
  for (const path of paths) {
    try {
      await replaceFile(path, await formatOf(path)(contents))
    } catch (error) {
      failures.push(outputFailure('--report', path, error))
    }
  }
  return failures
}

/** The columns that a report adds to those of its list. */
const RESULT_COLUMNS = [
  'result_line',
  'result_pid',
  'result_id',
  'result_xp',
  'result_verdict',
  'result_reason',
  'result_at',
] as const

/** A result of a row: the cells of the `result_*` columns. */
type Result = Readonly<Record<(typeof RESULT_COLUMNS)[number], string | number>>

/** The verdict of a row with a mistake. */
const INVALID = 'invalid'
/** The verdict of a row that is not in the ledger. */
const NOT_SENT = 'not_sent'

/** Rows per part of the text: a whole report may exceed the maximum length of a string. */
const PART_SIZE = 1_000
const IDS: ReadonlySet<string> = new Set(['result_id', 'result_pid'])

/** Writes a CSV report: the list's own columns as they were, and the result of each row. */
export function* listReport(
  list: AwardList,
  entries: ReadonlyMap<string, LedgerEntry>,
  problems: readonly ListProblem[],
): Generator<string> {
  const { columns, delimiter, records } = list
  const { headings, places } = columns
  const isId = (at: number): boolean => at === places.id || at === places.pid
  const mistakes = Map.groupBy([...list.skipped.problems, ...problems], ({ line }) => line)
  yield textOf([[...headings.map((heading) => escapeFormula(heading, true)), ...RESULT_COLUMNS]], delimiter, true)
  let part: (string | number)[][] = []
  for (const record of records) {
    const result = resultOfRecord(record, list, entries, mistakes.get(record.line))
    mistakes.delete(record.line)
    part.push([...ownCells(record, list).map((cell, at) => escapeFormula(cell, isId(at))), ...cellsOf(result)])
    if (part.length < PART_SIZE) continue
    yield textOf(part, delimiter)
    part = []
  }
  // The line of a syntax error has no record: the rows after it could not be read.
  for (const line of mistakes.keys()) {
    if (line !== undefined) part.push([...headings.map(() => ''), ...cellsOf(invalid(line, mistakes.get(line) ?? []))])
  }
  yield textOf(part, delimiter)
}

/** Writes the report of a file that is not a list, and so has no columns. */
export const fileReport = (message: string): string =>
  textOf([[...RESULT_COLUMNS], cellsOf(invalid('', [{ rule: 'file', message }]))], ',', true)

/** Writes the results of ledger entries. */
export function* ledgerReport(entries: Iterable<LedgerEntry>): Generator<string> {
  yield textOf([[...RESULT_COLUMNS]], ',', true)
  for (const entry of entries) yield textOf([cellsOf(resultOfEntry('', entry))], ',')
}

const cellsOf = (result: Result): (string | number)[] =>
  RESULT_COLUMNS.map((name) => {
    const value = result[name]
    return typeof value === 'string' ? escapeFormula(value, IDS.has(name)) : value
  })

const textOf = (rows: readonly (readonly (string | number)[])[], delimiter: string, bom = false): string =>
  stringify([...rows], {
    delimiter,
    bom,
    record_delimiter: 'windows',
    // Without quotes, a reader removes the white space around a cell, and starts a row at any line break.
    quoted_match: /^\s|\s$|[\r\n]/,
  })

/** Returns the cells of the list's own columns. */
function ownCells({ cells }: ListRecord, { columns, delimiter }: AwardList): string[] {
  const { headings } = columns
  if (!hasTooManyCells(cells, columns)) return headings.map((_, at) => cells[at] ?? '')
  // Nobody knows which cell belongs to which column.
  return headings.map((_, at) => (at === 0 ? cells.join(delimiter) : ''))
}

function resultOfRecord(
  { line, row }: ListRecord,
  { awards }: AwardList,
  entries: ReadonlyMap<string, LedgerEntry>,
  mistakes: readonly ListProblem[] | undefined,
): Result {
  if (mistakes !== undefined) return invalid(line, mistakes, row)
  if (row === undefined) return invalid(line, [])
  const entry = entries.get(row.id)
  if (entry === undefined || !isSameAward(row, entry)) {
    const { pid, id, xp } = row
    return { ...NO_RESULT, result_line: line, result_pid: pid, result_id: id, result_xp: xp, result_verdict: NOT_SENT }
  }
  const result = resultOfEntry(line, entry)
  const first = awards.get(row.id)?.line
  if (first === line) return result
  return { ...result, result_verdict: 'duplicate', result_reason: `identical to line ${first}` }
}

const NO_RESULT: Result = {
  result_line: '',
  result_pid: '',
  result_id: '',
  result_xp: '',
  result_verdict: '',
  result_reason: '',
  result_at: '',
}

const resultOfEntry = (line: number | '', { pid, id, xp, verdict, error, at }: LedgerEntry): Result => ({
  result_line: line,
  result_pid: pid,
  result_id: id,
  result_xp: xp,
  result_verdict: verdict,
  result_reason: error === undefined ? '' : error.message,
  result_at: at,
})

function invalid(line: number | '', mistakes: readonly ListProblem[], row?: ListRow): Result {
  const reason = mistakes.map(({ column, message }) =>
    column === undefined ? message : `column ${column}: ${message}`,
  )
  return {
    ...NO_RESULT,
    ...(row && { result_pid: row.pid, result_id: row.id, result_xp: row.xp }),
    result_line: line,
    result_verdict: INVALID,
    result_reason: reason.join('; '),
  }
}
