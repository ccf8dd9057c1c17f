import { typeName } from '../shared/type-checks.ts'

const NAME = '[A-Za-z_][A-Za-z0-9_]{0,62}'
/** SQL allows dollar signs in names, but they could end the dollar quotes of a schema. */
const TABLE = new RegExp(`^(?:(${NAME})\\.)?(${NAME})$`)

/** The rule for the name of a table, with or without a schema. */
export const mustBeTable = (value: unknown): string | undefined =>
  typeof value === 'string' && TABLE.test(value)
    ? undefined
    : 'must be a name, or a schema, a dot and a name: letters, digits and underscores, not starting with a ' +
      `digit, at most 63 characters each; got ${typeof value === 'string' ? JSON.stringify(value) : typeName(value)}`

/** Quotes the name for SQL, which makes it case-sensitive. @param table - must pass {@link mustBeTable} */
export const quotedTable = (table: string): string => `"${table.replace('.', '"."')}"`

/** A table of a schema. */
export interface TableSchema {
  /** The statements that create the table. */
  readonly create: string
  /** Columns that tables of earlier versions do not have, with their types. */
  readonly columns?: Readonly<Record<string, string>>
}

/** Returns the statement that adds columns to a table. */
export const addColumns = (name: string, columns: Readonly<Record<string, string>>): string =>
  `ALTER TABLE ${name} ${Object.entries(columns)
    .map(([column, type]) => `ADD COLUMN IF NOT EXISTS ${column} ${type}`)
    .join(', ')}`

/**
 * Returns a query that has a row if a table has a column.
 *
 * @param column - the name as an SQL expression
 */
export const hasColumn = (name: string, column: string): string =>
  `SELECT 1 FROM pg_attribute
    WHERE attrelid = to_regclass('${name}') AND attname = ${column} AND NOT attisdropped`

/**
 * Returns one statement that creates tables which do not exist, and adds missing columns. Several sessions may run it at once. It
 * needs the right to create tables only when one does not exist. A session that does not own a table leaves its columns, with a
 * warning.
 *
 * @param tables - by their quoted names
 */
export function createTables(tables: Readonly<Record<string, TableSchema>>): string {
  const names = Object.keys(tables)
  // CREATE TABLE IF NOT EXISTS can fail when two sessions run it at once. The advisory lock makes the second session wait.
  return `DO $campaign_client$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('campaign-client'), hashtext('${names.at(-1)}'));
${Object.entries(tables)
  .map(([name, { create, columns }]) => {
    const last = columns && Object.keys(columns).at(-1)
    // ALTER TABLE locks the table even if it has the columns.
    const upgrade = columns
      ? `  ELSIF NOT EXISTS (${hasColumn(name, `'${last}'`)}) THEN
    BEGIN
      ${addColumns(name, columns)};
    EXCEPTION WHEN insufficient_privilege THEN
      RAISE WARNING 'campaign-client: only the owner of ${name} can run: ${addColumns(name, columns)}';
    END;\n`
      : ''
    return `  IF to_regclass('${name}') IS NULL THEN\n    ${create.trim()}\n${upgrade}  END IF;\n`
  })
  .join('')}END
$campaign_client$`
}
