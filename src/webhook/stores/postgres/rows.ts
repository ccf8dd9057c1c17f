import { typeName } from '../../../shared/types.ts'

/*
 * A client can be told to rename columns and to read values its own way. What can't be read must be taken for no answer,
 * and named: a claim that looks like nobody's would make every message wait for a holder that is not there.
 */

/** @throws Error when the row has no text of this name */
export function textOf(row: unknown, column: string): string {
  const value = field(row, column)
  if (typeof value === 'string') return value
  throw unreadable(column, row)
}

/** Clients can be told to read numbers as text, or as an object that prints as one. */
export function numberOf(row: unknown, column: string): number {
  const number = Number.parseFloat(String(field(row, column)))
  if (Number.isFinite(number)) return number
  throw unreadable(column, row)
}

const unreadable = (column: string, row: unknown): Error =>
  foreignAnswer(`${column} is ${typeName(field(row, column))} in a row of ${Object.keys(Object(row)).join(', ')}`)

/** @param what - is wrong with it */
export const foreignAnswer = (what: string): Error =>
  new Error(
    `postgresStore can't read what its client answered: ${what}. Let it rename no columns (transform of ` +
      'postgres), and read texts as strings (type parsers of pg)',
  )

export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
