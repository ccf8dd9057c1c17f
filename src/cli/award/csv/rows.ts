import type { AwardRow } from 'campaign-client/bulk'
import { type Read, readAddress, readId, readText, readXp, shown } from './cells.ts'
import type { Column, Columns } from './columns.ts'
import type { CsvRecord } from './records.ts'

/** Something that is wrong in a list. */
export interface ListProblem {
  /** From 1; absent where it is about the whole list. */
  readonly line?: number
  /** Absent where it is not about one cell. */
  readonly column?: Column
  readonly message: string
}

/** What is the same for each row of a list. */
export interface RowRules {
  readonly columns: Columns
  /** The campaign of all rows, where the command line names one. */
  readonly pid: string | undefined
  readonly maxXp: number | undefined
  /** Derives an id from what the award is for. */
  readonly rewardId: (parts: { pid: string; address: string; reason: string }) => string
}

/** Reads a record as an award, or tells all that is wrong with it. */
export function readRow({ cells, line }: CsvRecord, rules: RowRules): AwardRow | readonly ListProblem[] {
  const { columns, pid, maxXp, rewardId } = rules
  const { places, count } = columns
  const problems: ListProblem[] = []
  const read = <Value>(column: Column, how: (cell: string) => Read<Value>): Value | undefined => {
    const place = places[column]
    if (place === undefined) return undefined
    const result = how(cells[place] ?? '')
    if ('value' in result) return result.value
    problems.push({ line, column, message: result.problem })
    return undefined
  }
  if (cells.slice(count).some((cell) => cell !== '')) {
    const message = `has ${cells.length} cells, and the first line ${count}: does a text need quotes?`
    return [{ line, message }]
  }
  const address = read('address', readAddress)
  const xp = read('xp', (cell) => bounded(readXp(cell), maxXp))
  const inCampaign = read('pid', (cell) => (pid === undefined ? readText(cell) : samePid(cell, pid))) ?? pid
  const id = read('id', readId)
  const reason = places.id === undefined ? read('reason', readText) : undefined
  if (problems.length > 0 || address === undefined || xp === undefined || inCampaign === undefined) return problems
  if (id !== undefined) return { address, pid: inCampaign, id, xp }
  return { address, pid: inCampaign, id: rewardId({ pid: inCampaign, address, reason: reason ?? '' }), xp }
}

function bounded(read: Read<number>, maxXp: number | undefined): Read<number> {
  if (maxXp === undefined || !('value' in read) || read.value <= maxXp) return read
  return { problem: `is ${read.value}, more than the ${maxXp} of --max-xp` }
}

/** A row without a campaign takes that of the command line; one with another was not meant for this run. */
const samePid = (cell: string, pid: string): Read<string> =>
  cell === '' || cell === pid ? { value: pid } : { problem: `is ${shown(cell)}, but --pid is ${shown(pid)}` }
