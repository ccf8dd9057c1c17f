import { existsSync } from 'node:fs'
import type { CheckedList } from './list.ts'
import { NumberList } from './number-list.ts'

const COLUMNS = ['line', 'address', 'pid', 'id', 'xp', 'verdict', 'at', 'reason']

/** One line for each award of a list and what became of it, as CSV for a spreadsheet. */
export async function* reportRows(list: CheckedList, ledger: string): AsyncGenerator<string> {
  const { awards, firstLines } = list
  const seen = new NumberList()
  for (let award = 0; award < awards.size; award++) seen.push(0)
  yield csvLine(COLUMNS)
  const { readLedger } = await import('campaign-client/bulk')
  const entries = existsSync(ledger) ? readLedger(ledger) : []
  for await (const { id, address, pid, xp, verdict, at, error } of entries) {
    const award = awards.seek({ id, address, pid, xp })
    if (award === -1) continue
    seen.set(award, 1)
    yield csvLine([firstLines.at(award), address, pid, id, xp, verdict, at, error?.message ?? ''])
  }
  for await (const row of list.rows()) {
    const award = awards.seek(row)
    if (award === -1 || seen.at(award) === 1) continue
    seen.set(award, 1)
    yield csvLine([firstLines.at(award), row.address, row.pid, row.id, row.xp, 'not_sent', '', ''])
  }
}

const csvLine = (cells: readonly (string | number)[]): string => `${cells.map(cellText).join(',')}\r\n`

/** A cell that no spreadsheet takes for a formula, whoever wrote its text. */
function cellText(cell: string | number): string {
  if (typeof cell === 'number') return String(cell)
  const text = /^\s*[=+\-@]/.test(cell) ? `'${cell}` : cell
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
