import { type CommandFailure, usageFailure } from '../../exit.ts'

/** Those that are read. All others are left alone. */
export const COLUMNS = ['address', 'xp', 'id', 'reason', 'pid'] as const
export type Column = (typeof COLUMNS)[number]

/** Where each column is, from 0. */
export interface Columns {
  readonly places: Readonly<Partial<Record<Column, number>>>
  /** How many there are, with names or without. */
  readonly count: number
  /** Those that are left alone, by name. */
  readonly unused: readonly string[]
}

/** The name of a column as a cell of the first line has it. */
export const columnName = (cell: string): string =>
  cell
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .trim()
    .toLowerCase()

/** @throws CommandFailure saying what the first line lacks */
export function readColumns(cells: readonly string[], pid: string | undefined): Columns {
  const names = cells.map(columnName)
  const places: Partial<Record<Column, number>> = {}
  for (const column of COLUMNS) {
    const place = names.indexOf(column)
    if (place === -1) continue
    if (names.indexOf(column, place + 1) !== -1) throw wrongHeader(`names the column "${column}" twice`)
    places[column] = place
  }
  if (names.some((name) => /^0x[0-9a-f]{40}$/.test(name))) throw wrongHeader('holds a wallet, not names of columns')
  const missing: string[] = (['address', 'xp'] as const).filter((column) => places[column] === undefined)
  if (places.id === undefined && places.reason === undefined) missing.push('id or reason')
  if (pid === undefined && places.pid === undefined) missing.push('pid (or --pid)')
  if (missing.length > 0) {
    const found = names.filter((name) => name !== '').slice(0, 10)
    const has =
      found.length > 0 ? `; it names ${found.map((name) => JSON.stringify(name.slice(0, 40))).join(', ')}` : ''
    throw wrongHeader(`lacks the column${missing.length > 1 ? 's' : ''} ${missing.join(', ')}${has}`)
  }
  const used = new Set<string>([...COLUMNS].filter((column) => column !== 'reason' || places.id === undefined))
  return { places, count: cells.length, unused: names.filter((name) => name !== '' && !used.has(name)) }
}

const wrongHeader = (what: string): CommandFailure =>
  usageFailure(
    `the first line ${what}`,
    'it must name the columns, such as: address,xp,reason (or id in place of reason, and pid without --pid)',
  )
