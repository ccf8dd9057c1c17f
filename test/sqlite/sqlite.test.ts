import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError } from 'campaign-client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openSqlite, type SqliteDatabase, sqliteProblem } from '../../src/sqlite/sqlite.ts'

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'file.db')
}

function open(path: string): SqliteDatabase {
  const database = openSqlite('a test', path)
  onTestFinished(() => database.close())
  return database
}

function problemOf(work: () => unknown): ReturnType<typeof sqliteProblem> {
  try {
    work()
  } catch (error) {
    return sqliteProblem(error)
  }
  return expect.unreachable('nothing was thrown')
}

test('sqliteProblem returns busy for a database that another connection writes to', () => {
  const path = newFile()
  open(path).exec('CREATE TABLE a (b); BEGIN IMMEDIATE')
  expect(problemOf(() => open(path).exec('BEGIN IMMEDIATE'))).toBe('busy')
})

test('sqliteProblem returns notadb for a file that is not a database', () => {
  const path = newFile()
  writeFileSync(path, 'address,xp\n'.repeat(100))
  expect(problemOf(() => open(path).exec('BEGIN IMMEDIATE'))).toBe('notadb')
})

test('sqliteProblem returns cantopen for a missing folder', () => {
  expect(problemOf(() => open(join(newFile(), 'file.db')))).toBe('cantopen')
})

test('sqliteProblem returns full for a database at its size limit', () => {
  const database = open(newFile())
  database.exec('CREATE TABLE a (b); PRAGMA max_page_count = 3')
  expect(problemOf(() => database.exec('INSERT INTO a VALUES (zeroblob(100000))'))).toBe('full')
})

test('sqliteProblem returns undefined for a syntax error and for errors of other libraries', () => {
  const database = open(newFile())
  expect(problemOf(() => database.exec('SELECT'))).toBeUndefined()
  expect(sqliteProblem(Object.assign(new Error('gone'), { code: 'ENOENT' }))).toBeUndefined()
  expect(sqliteProblem('SQLITE_BUSY')).toBeUndefined()
})

test.each([
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_BUSY_SNAPSHOT', 'busy'],
  ['SQLITE_IOERR_FSYNC', 'ioerr'],
  ['SQLITE_CONSTRAINT', undefined],
])('sqliteProblem maps the code %s of better-sqlite3 to %s', (code, problem) => {
  expect(sqliteProblem(Object.assign(new Error('failed'), { code }))).toBe(problem)
})

test.each([undefined, () => undefined])(
  'without node:sqlite, openSqlite throws an error that names the required Node.js version',
  (find) => {
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => undefined as never)
    if (find === undefined) vi.stubGlobal('process', { version: 'v20.20.0' })
    onTestFinished(() => {
      vi.unstubAllGlobals()
      vi.restoreAllMocks()
    })
    const opening = () => openSqlite("fileLedger('x')", newFile())
    expect(opening).toThrow(ConfigurationError)
    expect(opening).toThrow(/^fileLedger\('x'\) needs node:sqlite \(Node\.js 22\.13 or newer\): this runtime \(v2/)
  },
)
