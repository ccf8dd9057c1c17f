import { CsvError, parse } from 'csv-parse/sync'
import { COLUMNS, columnName } from './read-columns.ts'

/** One record of a CSV file. It may span several lines. */
export interface CsvRecord {
  readonly cells: readonly string[]
  /** The line where the record begins, from 1. */
  readonly line: number
}

/** Longer than any valid row. A longer record has a quote that is not closed, or the file is not a list. */
const MAX_RECORD_CHARACTERS = 100_000

export interface CsvSyntaxError {
  readonly line: number
  readonly message: string
}

/**
 * Splits a CSV text into records, and calls `onRecord` with each record that is not empty.
 *
 * @returns the first syntax error, if any. Reading ends there
 */
export function readRecords(content: string, onRecord: (record: CsvRecord) => void): CsvSyntaxError | undefined {
  const lines = content.includes('\n') ? content.replaceAll('\r\n', '\n') : content.replaceAll('\r', '\n')
  // In Excel, the first line can name the delimiter.
  const [separatorLine = '', named = ''] = /^"?sep=(.)"?\n/i.exec(lines) ?? []
  const isNamed = DELIMITERS.includes(named)
  const text = isNamed ? lines.slice(separatorLine.length) : lines
  const linesBefore = isNamed ? 1 : 0

  /** The last line of the previous record. */
  let lastLine = 0
  try {
    parse(text, {
      delimiter: isNamed ? named : delimiterOf(text),
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
    // For an open quote, show the line of the quote, not the end of the file.
    const line = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE' ? lastLine + 1 : end
    return { line: linesBefore + line, message: MESSAGES[code] ?? `is not CSV (${code})` }
  }
  return undefined
}

const DELIMITERS = [',', ';', '\t', '|']

/** Detects the delimiter in the first line: spreadsheets choose it by locale. */
function delimiterOf(text: string): string {
  const [header = ''] = /^.*\S.*$/m.exec(text.slice(0, MAX_RECORD_CHARACTERS)) ?? []
  const known = (delimiter: string): number =>
    header.split(delimiter).filter((cell) => (COLUMNS as readonly string[]).includes(columnName(cell))).length
  const [best = ','] = [...DELIMITERS].sort(
    (one, other) => known(other) - known(one) || header.split(other).length - header.split(one).length,
  )
  return best
}

const QUOTES = 'A cell with quotes is written as "He said ""yes"""'
const MESSAGES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quote that is not closed before the end of the file',
  CSV_INVALID_CLOSING_QUOTE: `has text after a closing quote. ${QUOTES}`,
  INVALID_OPENING_QUOTE: `has a quote in the middle of a cell. ${QUOTES}`,
  CSV_MAX_RECORD_SIZE: `is longer than ${MAX_RECORD_CHARACTERS / 1000} kB; check for a missing closing quote`,
}
