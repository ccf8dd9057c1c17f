import { type AwardRow, rewardId } from 'campaign-client/bulk'
import { type CellResult, readAddress, readId, readText, readXp, shown } from './read-cell.ts'
import type { Column, Columns } from './read-columns.ts'
import type { CsvRecord } from './read-records.ts'

export interface ListProblem {
  /** The line, from 1. Absent for a mistake in the whole list. */
  readonly line?: number
  /** Absent for a mistake in more than one cell. */
  readonly column?: Column
  readonly message: string
}

export interface RowRules {
  /** The campaign of all rows: `--pid`. */
  readonly pid: string | undefined
  /** The campaigns of CAMPAIGN_ALLOWED_CAMPAIGNS. */
  readonly allowed: readonly string[] | undefined
  /** The highest XP of a row: `--max-xp`. */
  readonly maxXp: number | undefined
}

/** Reads an award from a record, or lists the mistakes in the record. */
export function readRow(
  { cells, line }: CsvRecord,
  { places, count }: Columns,
  { pid: onlyPid, allowed, maxXp }: RowRules,
): { row: AwardRow } | { problems: ListProblem[] } {
  if (cells.slice(count).some((cell) => cell !== '')) {
    const message = `has ${cells.length} cells, but the first line has ${count}: put quotes around a cell that contains the delimiter`
    return { problems: [{ line, message }] }
  }
  const problems: ListProblem[] = []
  const read = <Value>(column: Column, parse: (cell: string) => CellResult<Value>): Value | undefined => {
    const place = places[column]
    if (place === undefined) return undefined
    const result = parse(cells[place] ?? '')
    if ('value' in result) return result.value
    problems.push({ line, column, message: result.problem })
    return undefined
  }
  const address = read('address', readAddress)
  const xp = read('xp', (cell) => atMost(maxXp, readXp(cell)))
  const pid = read('pid', (cell) => readPid(cell, onlyPid, allowed)) ?? onlyPid
  const id = read('id', readId)
  const reason = places.id === undefined ? read('reason', readText) : undefined
  if (problems.length > 0 || address === undefined || xp === undefined || pid === undefined) return { problems }
  return { row: { address, pid, id: id ?? rewardId({ pid, address, reason: reason ?? '' }), xp } }
}

function atMost(maxXp: number | undefined, xp: CellResult<number>): CellResult<number> {
  if (maxXp === undefined || !('value' in xp) || xp.value <= maxXp) return xp
  return { problem: `is ${xp.value}, but --max-xp is ${maxXp}` }
}

/** Reads a campaign. With `--pid`, the cell must be empty or contain the same campaign. */
function readPid(
  cell: string,
  onlyPid: string | undefined,
  allowed: readonly string[] | undefined,
): CellResult<string> {
  if (onlyPid !== undefined) {
    if (cell === '' || cell === onlyPid) return { value: onlyPid }
    return { problem: `is ${shown(cell)}, but --pid is ${shown(onlyPid)}` }
  }
  if (cell === '' || allowed === undefined || allowed.includes(cell)) return readText(cell)
  return { problem: `is ${shown(cell)}, which CAMPAIGN_ALLOWED_CAMPAIGNS does not list` }
}
