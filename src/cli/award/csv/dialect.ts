import { COLUMNS, columnName } from './columns.ts'

/** How a list is written. */
export interface Dialect {
  readonly delimiter: string
  readonly lineEnds: readonly string[]
  /** Where the names of the columns stand. */
  readonly headerLine: number
}

const DELIMITERS = [',', ';', '\t', '|']

/** Tells from the beginning of a list how it is written: spreadsheets choose by the language of the machine. */
export function dialectOf(start: string): Dialect {
  const lineEnds = start.includes('\n') ? ['\r\n', '\n'] : ['\r']
  const lines = start.split(/\r\n|\n|\r/)
  // What Excel writes and reads to say what the delimiter is.
  const said = /^"?sep=(.)"?$/i.exec(lines[0] ?? '')?.[1]
  if (said !== undefined && DELIMITERS.includes(said)) return { delimiter: said, lineEnds, headerLine: 2 }
  const header = lines.find((line) => line.trim() !== '') ?? ''
  const known = (delimiter: string): number =>
    header.split(delimiter).filter((cell) => (COLUMNS as readonly string[]).includes(columnName(cell))).length
  const [best = ','] = [...DELIMITERS].sort(
    (one, other) => known(other) - known(one) || header.split(other).length - header.split(one).length,
  )
  return { delimiter: best, lineEnds, headerLine: 1 }
}
