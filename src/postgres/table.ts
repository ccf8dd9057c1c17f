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

/**
 * Returns one statement that creates tables which do not exist. Several sessions may run it at once. It needs the right to
 * create tables only when one does not exist.
 *
 * @param tables - the statements that create each table, by its quoted name
 */
export function createTables(tables: Readonly<Record<string, string>>): string {
  const names = Object.keys(tables)
  // CREATE TABLE IF NOT EXISTS can fail when two sessions run it at once. The advisory lock makes the second session wait.
  return `DO $campaign_client$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('campaign-client'), hashtext('${names.at(-1)}'));
${names.map((name) => `  IF to_regclass('${name}') IS NULL THEN\n    ${tables[name]?.trim()}\n  END IF;\n`).join('')}END
$campaign_client$`
}
