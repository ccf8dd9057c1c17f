import type { LedgerEntry } from 'campaign-client/bulk'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AwardList, parseList } from '../../../src/cli/award/list.ts'
import { listReport, reportProblems } from '../../../src/cli/award/report-table.ts'
import { wallet } from './set-up.ts'

const read = (content: string): AwardList =>
  parseList('list.csv', Buffer.from(content), { pid: 'demo', allowed: undefined, maxXp: undefined })

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const id = fc
  .oneof(
    fc.string({ unit: fc.constantFrom(...BASE64URL), minLength: 1, maxLength: 22 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    fc
      .tuple(fc.constantFrom('=', '+', '-', '@', "'", '＝'), fc.string({ maxLength: 5 }))
      .map((parts) => parts.join('')),
    fc.stringMatching(/^\d{1,20}$/),
    fc.constantFrom('00123', '1/2', '(5)', '10%', '1e5', '-5', '+5', 'TRUE', '3-4', '12:30'),
  )
  .filter((text) => text.trim() !== '')

/** Changes a cell as spreadsheets do when they read it as a number, a date or a formula. */
function retyped(cell: string): string {
  if (cell.startsWith('=')) return '#NAME?'
  if (/^\d{16,}$/.test(cell)) return cell.slice(0, 15).padEnd(cell.length, '0')
  if (/^[+-]?\d+$/.test(cell)) return String(Number(cell))
  if (/^\d{1,2}[/-]\d{1,2}$/.test(cell)) return `2026-${cell.replace('/', '-')}`
  if (/^\(\d+\)$/.test(cell)) return `-${cell.slice(1, -1)}`
  if (/^\d+%$/.test(cell)) return String(Number(cell.slice(0, -1)) / 100)
  if (/^\d+e\d+$/i.test(cell)) return `${Number(cell)}`
  return cell
}

test('an id survives the report, and an id that a spreadsheet changed is a mistake of its line', () => {
  let changes = 0
  fc.assert(
    fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 20 }), fc.constantFrom(',', ';'), (ids, delimiter) => {
      const rows = ids.map((each, at) => [wallet(at + 1), '1', each])
      const list = read(stringify([['address', 'xp', 'id'], ...rows], { delimiter, quoted: true }))
      if (list.problems.length > 0) return
      const at = new Date(0).toISOString()
      const entries = new Map<string, LedgerEntry>(
        list.rows.map(({ line: _, ...row }) => [row.id, { ...row, verdict: 'awarded', at }]),
      )
      const report = [...listReport(list, entries, [])].join('')

      const back = read(report)
      expect(back.problems).toEqual([])
      expect(back.rows.map((row) => row.id)).toEqual(list.rows.map((row) => row.id))
      expect(reportProblems(back, entries)).toEqual([])
      expect([...listReport(back, entries, [])].join('')).toBe(report)

      const cells: string[][] = parse(report, { bom: true, delimiter })
      const changed = cells.map((row, index) => (index === 0 ? row : row.map(retyped)))
      const saved = read(stringify(changed, { delimiter, quoted: true }))
      const mistakes = new Set([...saved.problems, ...reportProblems(saved, entries)].map(({ line }) => line))
      for (const [index, row] of cells.entries()) {
        if (index === 0 || row[2] === changed[index]?.[2] || entries.has(changed[index]?.[2] ?? '')) continue
        changes++
        expect(mistakes).toContain(index + 1)
      }
      for (const row of saved.rows) if (!mistakes.has(row.line)) expect(entries.has(row.id)).toBe(true)
    }),
    { numRuns: 150 },
  )
  expect(changes).toBeGreaterThan(10)
})
