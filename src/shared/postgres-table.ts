import type { OptionRule } from './option-checks.ts'
import { typeName } from './type-checks.ts'

const NAME = '[A-Za-z_][A-Za-z0-9_]{0,62}'
/** SQL allows dollar signs in names, but they could end the dollar quotes of a schema. */
const TABLE = new RegExp(`^(?:(${NAME})\\.)?(${NAME})$`)

/** The rule for the name of a table, with or without a schema. */
export const isTable: OptionRule = (value) =>
  typeof value === 'string' && TABLE.test(value)
    ? undefined
    : 'must be a name, or a schema, a dot and a name: letters, digits and underscores, not starting with a ' +
      `digit, at most 63 characters each; got ${typeof value === 'string' ? JSON.stringify(value) : typeName(value)}`

/** Quotes the name for SQL, which makes it case-sensitive. @param table - must pass {@link isTable} */
export const quotedTable = (table: string): string =>
  table
    .split('.')
    .map((part) => `"${part}"`)
    .join('.')
