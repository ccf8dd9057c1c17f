import { isUtf8 } from 'node:buffer'
import { CsvError, parse } from 'csv-parse/sync'
import { WALLET_ADDRESS } from '../../shared/wallet-address.ts'
import { type CommandFailure, usageFailure } from '../failure.ts'
import { COLUMNS, type Column, type ColumnNames, codePoint } from './cells.ts'

/**
 * Decodes a CSV file in UTF-8, or in UTF-16 with a byte order mark ("Unicode Text" in Excel).
 *
 * @param name - of the file, for messages
 * @throws CommandFailure for any other file
 */
export function decodeText(bytes: Uint8Array, name: string): string {
  const starts = (...start: number[]): boolean => start.every((byte, index) => bytes[index] === byte)
  if (starts(0x50, 0x4b, 0x03, 0x04) || starts(0xd0, 0xcf, 0x11, 0xe0)) {
    throw usageFailure(`${name} is a workbook, not a CSV file`, SAVE_AS)
  }
  const encoding = starts(0xff, 0xfe) ? 'utf-16le' : starts(0xfe, 0xff) ? 'utf-16be' : 'utf-8'
  let text: string
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    const issue =
      encoding === 'utf-8' ? `: line ${firstWrongLine(bytes)} is not UTF-8` : ' is not text in UTF-8 or UTF-16'
    throw usageFailure(`${name}${issue}`, SAVE_AS)
  }
  if (text.includes('\0')) throw usageFailure(`${name} contains NUL characters: it is not a CSV file`, SAVE_AS)
  const [control] = CONTROL.exec(text) ?? []
  if (control === undefined) return text
  const line = text.slice(0, text.indexOf(control)).split('\n').length
  const what =
    control === '\r' ? 'a carriage return without a line feed' : `the control character ${codePoint(control)}`
  throw usageFailure(`${name}: line ${line} contains ${what}`, SAVE_AS)
}

/** Control characters other than tabs and line ends. A lone CR is refused: programs disagree on whether it ends a line. */
const CONTROL = /(?![\t\n\r])\p{Cc}|\r(?!\n)/u

const SAVE_AS = 'save the sheet as "CSV UTF-8"'
const LINE_FEED = 0x0a

function firstWrongLine(bytes: Uint8Array): number {
  let start = 0
  for (let line = 1; ; line++) {
    const end = bytes.indexOf(LINE_FEED, start)
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line
    start = end + 1
  }
}

/** One record of a CSV file. It may span several lines. */
export interface CsvRecord {
  readonly cells: readonly string[]
  /** The line where the record begins, from 1. */
  readonly line: number
}

/** Longer than any valid row. A longer record has a quote that is not closed, or the file is not a list. */
const MAX_RECORD_CHARACTERS = 100_000

interface CsvSyntaxError {
  readonly line: number
  readonly message: string
}

/**
 * Splits a CSV text into records, and calls `onRecord` with each record that is not empty.
 *
 * @param headings - the headings by which to detect the delimiter
 * @returns the delimiter, and the first syntax error, if any. Reading ends there
 */
export function readRecords(
  content: string,
  headings: readonly string[],
  onRecord: (record: CsvRecord) => void,
): { readonly delimiter: string; readonly syntaxError?: CsvSyntaxError } {
  const lines = content.replaceAll('\r\n', '\n')
  // In Excel, the first line can name the delimiter.
  const [separatorLine = '', named = ''] = /^"?sep=(.)"?\n/i.exec(lines) ?? []
  const isNamed = DELIMITERS.includes(named)
  const text = isNamed ? lines.slice(separatorLine.length) : lines
  const linesBefore = isNamed ? 1 : 0
  const delimiter = isNamed ? named : delimiterOf(text, headings)

  /** The last line of the previous record. */
  let lastLine = 0
  try {
    parse(text, {
      delimiter,
      record_delimiter: '\n',
      relax_column_count: true,
      max_record_size: MAX_RECORD_CHARACTERS,
      trim: true,
      on_record(cells: string[], { lines: end }): null {
        if (cells.some((cell) => cell !== '')) onRecord({ cells, line: linesBefore + lastLine + 1 })
        lastLine = end
        return null
      },
    })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { code, lines: end = lastLine } = error as CsvError & { lines?: number }
    // For an open quote, show the line where the record begins, not the end of the file.
    const line = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE' ? lastLine + 1 : end
    const message = MESSAGES[code] ?? `the row is not CSV (${code})`
    return { delimiter, syntaxError: { line: linesBefore + line, message } }
  }
  return { delimiter }
}

const DELIMITERS = [',', ';', '\t', '|']

/** Detects the delimiter in the first line: spreadsheets choose it by locale. */
function delimiterOf(text: string, headings: readonly string[]): string {
  const [header = ''] = /^.*\S.*$/m.exec(text.slice(0, MAX_RECORD_CHARACTERS)) ?? []
  const known = (delimiter: string): number =>
    header.split(delimiter).filter((cell) => headings.includes(columnName(cell))).length
  const [best = ','] = [...DELIMITERS].sort(
    (one, other) => known(other) - known(one) || header.split(other).length - header.split(one).length,
  )
  return best
}

const QUOTES = 'A cell with quotes is written as "He said ""yes"""'
const MESSAGES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed before the end of the file',
  CSV_INVALID_CLOSING_QUOTE: `text follows a closing quote. ${QUOTES}`,
  INVALID_OPENING_QUOTE: `a quote is in the middle of a cell. ${QUOTES}`,
  CSV_MAX_RECORD_SIZE: `the row is longer than ${MAX_RECORD_CHARACTERS / 1000} kB; check for a missing closing quote`,
}

/** The columns of a list, from its first line. */
export interface Columns {
  /** The index of each column, from 0. */
  readonly places: Readonly<Partial<Record<Column, number>>>
  /** The headings of all columns. */
  readonly headings: readonly string[]
  /** The names of ignored columns. */
  readonly unused: readonly string[]
}

/** Whether a record has a non-empty cell after the last column. */
export const hasTooManyCells = (cells: readonly string[], { headings }: Columns): boolean =>
  cells.slice(headings.length).some((cell) => cell !== '')

/** Returns the headings of `--columns`, and the default headings of the other columns. */
export const headingsOf = (names: ColumnNames): string[] => COLUMNS.map((column) => columnName(names[column] ?? column))

/** Normalises a cell of the first line to the name of a column. */
const columnName = (cell: string): string =>
  cell
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .trim()
    .toLowerCase()

/** Reads the first line. @throws CommandFailure when a column is missing or named twice, or the file is a report */
export function readColumns(headings: readonly string[], pid: string | undefined, given: ColumnNames = {}): Columns {
  const names = headings.map(columnName)
  if (names.includes('result_verdict')) {
    throw usageFailure(
      'the file is a report of the `award` command, not a list: it has a column result_verdict',
      'correct the list itself, and run it with the same ledger, which knows what was awarded',
    )
  }
  if (names.some((name) => WALLET_ADDRESS.test(name)))
    throw wrongHeader('contains a wallet address instead of column names')
  const places: Partial<Record<Column, number>> = {}
  for (const column of COLUMNS) {
    const place = placeOf(column, given[column], names)
    if (place !== undefined) places[column] = place
  }
  requireColumns(places, pid, names)
  // A list with ids needs no reasons: that column is ignored.
  if (places.id !== undefined) delete places.reason
  const used = Object.values(places)
  const unused = names.filter((name, index) => name !== '' && !used.includes(index))
  return { places, headings, unused }
}

/** Returns the index of a column; `undefined` if it is missing. */
function placeOf(column: Column, given: string | undefined, names: readonly string[]): number | undefined {
  const name = columnName(given ?? column)
  const place = names.indexOf(name)
  const flag = given === undefined ? '' : ` (named by --columns for ${column})`
  if (place === -1) {
    if (given === undefined) return undefined
    throw wrongHeader(`has no column ${JSON.stringify(given)}${flag}${foundNames(names)}`)
  }
  if (names.indexOf(name, place + 1) !== -1) throw wrongHeader(`has two columns ${JSON.stringify(name)}${flag}`)
  return place
}

/** @throws CommandFailure when a column is missing, or `--columns` gives one heading to two columns */
function requireColumns(
  places: Readonly<Partial<Record<Column, number>>>,
  pid: string | undefined,
  names: readonly string[],
): void {
  const missing: string[] = (['address', 'xp'] as const).filter((column) => places[column] === undefined)
  if (places.id === undefined && places.reason === undefined) missing.push('id or reason')
  if (pid === undefined && places.pid === undefined) missing.push('pid (or --pid)')
  if (missing.length > 0) {
    throw wrongHeader(`lacks the column${missing.length > 1 ? 's' : ''} ${missing.join(', ')}${foundNames(names)}`)
  }
  for (const [column, place] of Object.entries(places)) {
    const [other] = Object.entries(places).find(([name, otherPlace]) => name !== column && otherPlace === place) ?? []
    if (other === undefined) continue
    throw usageFailure(`--columns uses the column ${JSON.stringify(names[place])} for both ${column} and ${other}`)
  }
}

function foundNames(names: readonly string[]): string {
  const found = names.filter((name) => name !== '').slice(0, 10)
  return found.length > 0 ? `; it names ${found.map((name) => JSON.stringify(name.slice(0, 40))).join(', ')}` : ''
}

const wrongHeader = (issue: string): CommandFailure =>
  usageFailure(
    `the first line ${issue}`,
    'it must name the columns: address, xp, reason or id, and pid unless --pid is given; --columns maps other headings',
  )
