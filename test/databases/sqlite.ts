import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import type { Database } from 'better-sqlite3'

const require = createRequire(import.meta.url)

/** Why tests of better-sqlite3 are skipped; `undefined` if they can run. */
export const betterSqlite3Missing =
  Number(process.versions.napi) < 10
    ? `better-sqlite3 13 needs Node-API 10; loading it ends Node.js ${process.versions.node}`
    : undefined

/** Creates an empty folder for SQLite files. */
export function sqliteFolder(): { file(name?: string): string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-sqlite-'))
  let files = 0
  return {
    file: (name = `${files++}.db`) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Opens a database of better-sqlite3. The package is loaded here, because loading it may end the process. */
export const openBetterSqlite3 = (path: string): Database =>
  new (require('better-sqlite3') as typeof BetterSqlite3)(path)
