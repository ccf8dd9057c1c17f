import type { AwardRow } from 'campaign-client/bulk'
import { AwardIndex } from '../../bulk/ledger/award-index.ts'
import { EntryTable } from '../../bulk/ledger/entry-table.ts'
import { Tally } from '../../bulk/report/tally.ts'
import { usageFailure } from '../exit.ts'
import { inputName } from '../files.ts'
import { type Columns, readColumns } from './csv/columns.ts'
import type { ListFile } from './csv/list-file.ts'
import { BrokenCsv, type CsvRecord, readRecords } from './csv/records.ts'
import { type RowRules, readRow } from './csv/rows.ts'
import { NumberList } from './number-list.ts'
import { Problems } from './problems.ts'

/** A list that was read once, from its first row to its last. */
export interface CheckedList {
  readonly file: ListFile
  readonly problems: Problems
  /** The line of each row. */
  readonly lines: NumberList
  /** Each award once, however many rows name it. */
  readonly awards: AwardIndex
  /** The line of the first row of each award. */
  readonly firstLines: NumberList
  /** How many wallets there are, each once in each campaign. */
  readonly wallets: number
  readonly pids: ReadonlySet<string>
  /** Of the awards. */
  readonly xp: number
  /** Columns that are left alone. */
  readonly unused: readonly string[]
  /** The rows once more. @throws CommandFailure when the file is not the same any more */
  rows(): AsyncGenerator<AwardRow>
}

/** Who is awarded. Apart from the list, since a run has no use for it any more. */
export interface Holders {
  /** The wallets, each once in each campaign. */
  readonly wallets: Wallets
  /** The wallet of each award. */
  readonly walletOf: NumberList
}

type Rules = Omit<RowRules, 'columns'>

/** Reads a whole list and finds all that is wrong with it. Keeps a few dozen bytes of each row. */
export async function checkList(file: ListFile, rules: Rules): Promise<{ list: CheckedList; holders: Holders }> {
  const problems = new Problems()
  const lines = new NumberList()
  const awards = new AwardIndex()
  const firstLines = new NumberList()
  const wallets = new Wallets()
  const walletOf = new NumberList()
  const pids = new Set<string>()
  const tally = new Tally()
  const { columns, records } = await begin(file, rules)
  const isById = columns.places.id !== undefined

  const add = (row: AwardRow, line: number): void => {
    lines.push(line)
    const entry = awards.seek(row)
    if (entry === -1) {
      awards.add()
      firstLines.push(line)
      walletOf.push(wallets.add(row))
      pids.add(row.pid)
      tally.add('awarded', row.xp)
    } else if (!awards.isBound(entry)) {
      const before = firstLines.at(entry)
      problems.add(
        isById
          ? { line, column: 'id', message: `stands for another award on line ${before}` }
          : { line, column: 'xp', message: `is not what line ${before} has for the same wallet and reason` },
      )
    }
  }

  const each = { ...rules, columns }
  try {
    for await (const record of records) {
      const read = readRow(record, each)
      if (Array.isArray(read)) problems.add(...read)
      else add(read as AwardRow, record.line)
    }
  } catch (error) {
    if (!(error instanceof BrokenCsv)) throw error
    problems.add({ line: error.line, message: error.message })
  }
  if (lines.length === 0 && problems.count === 0) throw usageFailure(`${inputName(file.name)} has no rows`)
  const list: CheckedList = {
    file,
    problems,
    lines,
    awards,
    firstLines,
    wallets: wallets.size,
    pids,
    // What adding up decimals leaves behind is no XP.
    xp: Number(tally.xp.awarded.toPrecision(15)),
    unused: columns.unused,
    async *rows() {
      const again = await begin(file, rules)
      for await (const record of again.records) {
        const read = readRow(record, each)
        if (!Array.isArray(read)) yield read as AwardRow
      }
    },
  }
  return { list, holders: { wallets, walletOf } }
}

/** Reads the first line; the others come after it. @throws CommandFailure when it is no list of awards */
async function begin(
  file: ListFile,
  { pid }: Rules,
): Promise<{ columns: Columns; records: AsyncGenerator<CsvRecord> }> {
  const records = readRecords(file)
  const first = await records.next().catch((error: unknown) => {
    throw error instanceof BrokenCsv
      ? usageFailure(`${inputName(file.name)}: line ${error.line} ${error.message}`)
      : error
  })
  if (first.done) throw usageFailure(`${inputName(file.name)} is empty`)
  return { columns: readColumns(first.value.cells, pid), records }
}

/** Wallets by campaign, in some 35 bytes each. Letter case makes no difference. */
export class Wallets {
  readonly #table = new EntryTable()

  get size(): number {
    return this.#table.size
  }

  /** Its number. */
  add(award: Pick<AwardRow, 'pid' | 'address'>): number {
    const found = this.find(award)
    return found === -1 ? this.#table.add() : found
  }

  /** Its number, or -1. */
  find({ pid, address }: Pick<AwardRow, 'pid' | 'address'>): number {
    const key = Buffer.from(`${address.toLowerCase()}${pid}`)
    return this.#table.find(key, 0, key.length)
  }
}
