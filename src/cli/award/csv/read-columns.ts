import { type CommandFailure, usageFailure } from '../../failure.ts'

/** The columns of a list. Other columns are ignored. */
export const COLUMNS = ['address', 'xp', 'id', 'reason', 'pid'] as const
export type Column = (typeof COLUMNS)[number]

/** The columns of a list, from its first line. */
export interface Columns {
  /** The index of each column, from 0. */
  readonly places: Readonly<Partial<Record<Column, number>>>
  /** The number of all columns. */
  readonly count: number
  /** The names of ignored columns. */
  readonly unused: readonly string[]
}

/** Normalises a cell of the first line to the name of a column. */
export const columnName = (cell: string): string =>
  cell
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .trim()
    .toLowerCase()

/** Reads the first line. @throws CommandFailure when a column is missing or is named twice */
export function readColumns(cells: readonly string[], pid: string | undefined): Columns {
  const names = cells.map(columnName)
  const places: Partial<Record<Column, number>> = {}
  for (const column of COLUMNS) {
    const place = names.indexOf(column)
    if (place === -1) continue
    if (names.indexOf(column, place + 1) !== -1) throw wrongHeader(`names the column "${column}" twice`)
    places[column] = place
  }
  if (names.some((name) => /^0x[0-9a-f]{40}$/.test(name)))
    throw wrongHeader('contains a wallet address instead of column names')
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

const wrongHeader = (problem: string): CommandFailure =>
  usageFailure(
    `the first line ${problem}`,
    'it must name the columns: address, xp, reason or id, and pid unless --pid is given',
  )
