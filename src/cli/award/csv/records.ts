import { CsvError, parse } from 'csv-parse'
import { usageFailure } from '../../exit.ts'
import { inputName } from '../../files.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import type { ListFile } from './list-file.ts'
import { textBlocks } from './text.ts'

/** A line of a list, or more than one where a cell has line breaks. */
export interface CsvRecord {
  readonly cells: readonly string[]
  /** Where it begins, from 1. */
  readonly line: number
}

/** More than a row of an award can have; what is longer has lost a quote, or is another file than was meant. */
const LONGEST_RECORD = 100_000

/** What can't be read as CSV any further. */
export class BrokenCsv extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** The records of a list, in their order; empty ones are left out. @throws BrokenCsv saying where */
export async function* readRecords(file: ListFile): AsyncGenerator<CsvRecord> {
  const blocks = textBlocks(file.name, file.blocks())
  try {
    const first = await blocks.next()
    if (first.done) throw usageFailure(`${inputName(file.name)} is empty`)
    yield* recordsOf(first.value, blocks, dialectOf(first.value.toString('utf8', 0, LONGEST_RECORD)))
  } finally {
    await blocks.return(undefined)
  }
}

async function* recordsOf(first: Buffer, others: AsyncIterable<Buffer>, dialect: Dialect): AsyncGenerator<CsvRecord> {
  const { delimiter, lineEnds, headerLine } = dialect
  /** Taken at once: those that wait in a stream are gone when the CSV breaks behind them. */
  let ready: CsvRecord[] = []
  /** csv-parse counts a line break of two characters within quotes twice. */
  let surplus = 0
  let before = 0
  const take = (cells: readonly string[], lines: number): void => {
    let inside = 0
    if (lines > before + 1) {
      const text = cells.join()
      surplus += text.match(/\r\n/g)?.length ?? 0
      inside = text.match(/\r\n|\n|\r/g)?.length ?? 0
    }
    before = lines
    if (cells.some((cell) => cell !== '')) ready.push({ cells, line: lines - surplus - inside })
  }
  const parser = parse({
    delimiter,
    record_delimiter: [...lineEnds],
    from_line: headerLine,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_RECORD,
    trim: true,
    on_record(cells: string[], { lines }): null {
      take(cells, lines)
      return null
    },
  })
  // Its steps tell of it.
  parser.on('error', () => undefined)
  const taken = (): readonly CsvRecord[] => {
    const records = ready
    ready = []
    return records
  }
  try {
    for await (const block of allOf(first, others)) {
      await step((done) => parser.write(block, done))
      yield* taken()
    }
    await step((done) => parser.end(done))
  } catch (error) {
    yield* taken()
    throw error instanceof CsvError ? broken(error, surplus, before) : error
  }
  yield* taken()
}

async function* allOf(first: Buffer, others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* others
}

const step = (take: (done: (error?: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => take((error) => (error ? reject(error) : resolve())))

function broken({ code, lines }: CsvError & { lines?: number }, surplus: number, before: number): BrokenCsv {
  // Where a quote was forgotten is more use than where the search for it was given up.
  const isLost = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE'
  const line = (isLost ? before + 1 : (lines ?? before)) - surplus
  return new BrokenCsv(line, WORDS[code] ?? `is not CSV (${code})`)
}

const QUOTES = 'A cell with quotes is written as "He said ""yes"""'
const WORDS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quote that is not closed before the end of the file',
  CSV_INVALID_CLOSING_QUOTE: `has text after a closing quote. ${QUOTES}`,
  INVALID_OPENING_QUOTE: `has a quote in the middle of a cell. ${QUOTES}`,
  CSV_MAX_RECORD_SIZE: `is longer than ${LONGEST_RECORD / 1000} kB: is a quote not closed?`,
}
