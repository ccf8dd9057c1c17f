import { once } from 'node:events'
import { CsvError, type Parser, parse } from 'csv-parse'
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
  const parser = parse({
    delimiter,
    record_delimiter: [...lineEnds],
    from_line: headerLine,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: LONGEST_RECORD,
    trim: true,
    info: true,
  })
  void feed(parser, first, others)
  /** csv-parse counts a line break of two characters within quotes twice. */
  let surplus = 0
  let before = 0
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      let inside = 0
      if (info.lines > before + 1) {
        const text = record.join()
        surplus += text.match(/\r\n/g)?.length ?? 0
        inside = text.match(/\r\n|\n|\r/g)?.length ?? 0
      }
      before = info.lines
      if (record.every((cell) => cell === '')) continue
      yield { cells: record, line: info.lines - surplus - inside }
    }
  } catch (error) {
    throw error instanceof CsvError ? broken(error, surplus, before) : error
  }
}

async function feed(parser: Parser, first: Buffer, others: AsyncIterable<Buffer>): Promise<void> {
  try {
    await write(parser, first)
    for await (const block of others) await write(parser, block)
    parser.end()
  } catch (error) {
    parser.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

async function write(parser: Parser, block: Buffer): Promise<void> {
  // Whoever has enough of the records destroys the parser: nothing more is read then.
  if (!parser.destroyed && !parser.write(block)) await Promise.race([once(parser, 'drain'), once(parser, 'close')])
}

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
