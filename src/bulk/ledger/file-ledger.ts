import { chmodSync, closeSync, openSync, type Stats, statSync } from 'node:fs'
import { constants } from 'node:os'
import { basename, resolve } from 'node:path'
import { withParts } from '../../errors/bulk-errors.ts'
import { CampaignError, ConfigurationError } from '../../errors/client-errors.ts'
import {
  issuesAt,
  type OptionRule,
  type OptionRules,
  optional,
  readOptions,
  refuseOptions,
} from '../../errors/option-checks.ts'
import type { AwardFailure, FinalVerdict, Verdict } from '../../schemas/award-report.ts'
import { FINAL_VERDICTS, isSameAward } from '../../shared/award.ts'
import type { ClientTarget } from '../../shared/client-internals.ts'
import { toJsonLine, toVisible, tryParseJson } from '../../shared/text.ts'
import { nextTurn, sleep, startTimer } from '../../shared/timers.ts'
import { isRecord, typeName } from '../../shared/type-checks.ts'
import { openSqlite, type SqliteDatabase, sqliteProblem } from '../../sqlite/sqlite.ts'
import type { AwardRow } from '../rows.ts'
import {
  type AwardResult,
  type AwardState,
  claimAward,
  completeAward,
  type RetryableVerdicts,
  releaseAward,
  resultOf,
} from './award-state.ts'
import {
  type Attempt,
  type AwardClaim,
  type AwardLedger,
  type AwardSession,
  LEDGER,
  LEDGER_CHANGED,
  type LedgerImplementation,
  type LedgerSession,
  mustBeRebind,
  mustBeRunName,
  type Rebind,
  requireTarget,
} from './ledger.ts'

/** Options of {@link fileLedger}. */
export interface FileLedgerOptions {
  /**
   * The name of the run, at most 500 characters. A ledger of another run is refused, so that a production run never
   * continues the ledger of a test run.
   *
   * @defaultValue `'default'`
   */
  run?: string | undefined
  /**
   * Moves a ledger to the client's base URL and token. You state that they belong to the same service and organization as
   * the recorded ones. It has no effect once the ledger has moved.
   */
  rebind?: Rebind | undefined
}

/** A ledger in a local file: made by {@link fileLedger}. */
export interface FileLedger extends AwardLedger {
  readonly kind: 'file'
  /** The absolute path of the file. */
  readonly path: string
  /** @internal */
  readonly [LEDGER]: FileLedgerImplementation
}

export interface FileLedgerImplementation extends LedgerImplementation {
  /** @param state - the expected state. If the file has another, `open` fails with the cause `LEDGER_CHANGED`. */
  open(target: ClientTarget | undefined, state?: LedgerState): Promise<LedgerSession>
  /**
   * Reads the whole file, and calls `visit` with each entry, in the order in which the ids were first recorded.
   *
   * @returns the run that the file records; `undefined` if it records none yet
   * @throws what {@link open} throws, unless the file belongs to another run or target
   */
  read(visit: (entry: LedgerEntry) => void): Promise<ReadHeader | undefined>
  /** @throws ConfigurationError when a file with this header belongs to another run or target */
  check(header: LedgerHeader, target: ClientTarget | undefined): void
}

/** The run of a ledger. */
export interface LedgerHeader {
  readonly run: string
  readonly target: ClientTarget | null
  readonly hasAwards: boolean
}

/** The header of a ledger that was read whole. */
export interface ReadHeader extends LedgerHeader {
  readonly state: LedgerState
}

/** Text that differs after every change of the awards in a ledger, even if the clock was set back. */
export type LedgerState = string

/** The state of a ledger without awards. */
export const EMPTY_STATE: LedgerState = '0 0 0 0'

const OPTIONS: OptionRules<FileLedgerOptions> = { run: optional(mustBeRunName), rebind: optional(mustBeRebind) }
const DEFAULT_RUN = 'default'

/**
 * Records awards in an SQLite database, for `rewardWallets` and `awardOne` on one machine. Needs `node:sqlite`: Node.js 22.13
 * or newer.
 *
 * Each award is recorded before its request is sent, and its verdict afterwards. The file is opened when a run or a call of
 * `awardOne` starts, and created if it is missing, with read and write permission for its owner only. Use a local disk that
 * honours fsync: otherwise a power failure can lose recorded awards.
 *
 * One run at a time can use the file. The operating system holds the lock for the process: another run, in this or another
 * process, is refused at once, and after a kill the next run starts at once. Calls of `awardOne` in one process share the
 * file. When the last call ends, the file is closed at once if it was open for more than a second, otherwise after a second
 * without a call. While the file is in use, do not read, copy or hash it in the same process: closing a file ends the locks that
 * the process has on it.
 *
 * After a crash, `PATH` and `PATH-wal` belong together. A run that ends leaves one file. docs/award-ledger.md lists its
 * tables. Read it with {@link readLedger} or `sqlite3`.
 *
 * @param path - of the file; its folder must exist
 * @param options - the name of the run
 * @throws ConfigurationError when the path is not a string, is empty or `:memory:`, or an option is wrong or misspelt
 *
 * @example
 * ```ts
 * const ledger = fileLedger('awards.ledger', { run: 'launch-party' })
 * ```
 */
export function fileLedger(path: string, options: FileLedgerOptions = {}): FileLedger {
  const own = readOptions('fileLedger', options, OPTIONS, issuesAt('path', mustBePath(path)))
  const { run = DEFAULT_RUN, rebind } = own
  const absolute = resolve(path)
  return {
    kind: 'file',
    path: absolute,
    run,
    [LEDGER]: {
      open: async (target, state) => new FileSession(absolute, openFile(absolute, { run, target, rebind, state })),
      openForOne: (target) => openForOne(absolute, { run, target, rebind }),
      read: async (visit) => readFile(absolute, visit),
      check: (header, target) => checkHeader(absolute, header, { run, target, rebind }),
    },
  }
}

/** One award in a ledger. */
export interface LedgerEntry {
  /** The id of the award. The service accepts each id once. */
  readonly id: string
  /** The wallet address of the row. */
  readonly address: string
  /** Campaign ID. */
  readonly pid: string
  /** Amount of XP. */
  readonly xp: number
  /** The last verdict; `'indeterminate'` after an attempt with an unknown outcome. */
  readonly verdict: Verdict
  /** The ISO date of the verdict, by the clock of the process that wrote it. Without a verdict, the date of the attempt. */
  readonly at: string
  /** The recorded failure. Set on every `rejected` award. */
  readonly error?: AwardFailure
}

/**
 * Reads the entries of a ledger that {@link fileLedger} wrote: one per id, in the order in which the ids were first recorded.
 * It reads the file while you iterate. A run can't use the file until the iteration ends.
 *
 * @param path - of the ledger
 * @returns the entries. Each iteration opens the file. It throws ConfigurationError when the ledger does not exist, is in
 *   use by a run, has an unsupported version or is damaged
 * @throws ConfigurationError when the path is not a string, is empty or `:memory:`
 *
 * @example
 * ```ts
 * for await (const { id, xp, verdict } of readLedger('awards.ledger')) console.log(id, xp, verdict)
 * ```
 */
export function readLedger(path: string): AsyncIterable<LedgerEntry> {
  refuseOptions('readLedger', issuesAt('path', mustBePath(path)))
  const absolute = resolve(path)
  return { [Symbol.asyncIterator]: () => readEntries(absolute) }
}

async function* readEntries(path: string): AsyncGenerator<LedgerEntry> {
  if (findFile(path) === undefined) throw unusable(path, 'it does not exist')
  const database = openToRead('readLedger', path)
  try {
    if (!isNew(database)) yield* entriesOf(database)
  } catch (error) {
    throw explained(path, error)
  } finally {
    database.close()
  }
}

function readFile(path: string, visit: (entry: LedgerEntry) => void): ReadHeader | undefined {
  if (findFile(path) === undefined) {
    requireNotLost(path)
    return undefined
  }
  const database = openToRead('fileLedger', path)
  try {
    if (isNew(database)) return undefined
    requireIntact(path, database)
    for (const entry of entriesOf(database)) visit(entry)
    return { ...headerOf(path, database), state: stateOf(database) }
  } catch (error) {
    throw explained(path, error)
  } finally {
    database.close()
  }
}

function openToRead(caller: string, path: string): SqliteDatabase {
  requireNotLost(path)
  closeIfIdle(path)
  let database: SqliteDatabase | undefined
  try {
    database = openSqlite(caller, path)
    database.exec(LOCK)
    return database
  } catch (error) {
    database?.close()
    throw explained(path, error)
  }
}

const PAGE_SIZE = 1_000

function* entriesOf(database: SqliteDatabase): Generator<LedgerEntry> {
  // In pages: the iterators of node:sqlite crash Node.js 22.13 after a garbage collection.
  const page = database.prepare(`SELECT ${COLUMNS} FROM awards WHERE rowid > ? ORDER BY rowid LIMIT ${PAGE_SIZE}`)
  let entries: FileRow[]
  let last = 0
  do {
    entries = page.all(last) as FileRow[]
    for (const stored of entries) {
      const { id, address, pid, xp, settled_at, begun_at } = stored
      const { verdict = 'indeterminate', failure } = readState(stored)
      const at = new Date(settled_at ?? begun_at).toISOString()
      yield { id, address, pid, xp, verdict, at, ...(failure && { error: failure }) }
      last = stored.rowid
    }
  } while (entries.length === PAGE_SIZE)
}

/** `CCLG`: marks an SQLite database as a ledger. */
const APPLICATION_ID = 0x43_43_4c_47
const TABLES_VERSION = 1

/** In exclusive mode the first lock is kept until the database is closed, and WAL needs no shared memory beside the file. */
const LOCK = 'PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL'

const CREATE = `
  CREATE TABLE run (name TEXT, target TEXT, begun_at INTEGER) STRICT;
  CREATE TABLE awards (
    id TEXT PRIMARY KEY, address TEXT, pid TEXT, xp REAL, verdict TEXT, in_doubt INTEGER, error TEXT,
    begun_at INTEGER, settled_at INTEGER
  ) STRICT;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${TABLES_VERSION}`

const IDENTITY = `
  SELECT (SELECT application_id FROM pragma_application_id) AS application,
    (SELECT user_version FROM pragma_user_version) AS version, (SELECT count(*) FROM sqlite_schema) AS tables`

const COLUMNS = 'rowid, id, address, pid, xp, verdict, in_doubt, error, begun_at, settled_at'

/** A row of the table `awards`. */
interface FileRow extends AwardRow {
  readonly rowid: number
  /** Null while the award is open: an attempt is under way, or its outcome is unknown. */
  readonly verdict: FinalVerdict | null
  /** 1 while the award is open, or `unconfirmed`; 0 if it is undecided (see `AwardState`). */
  readonly in_doubt: 0 | 1
  /** An {@link AwardFailure} as JSON. */
  readonly error: string | null
  readonly begun_at: number
  readonly settled_at: number | null
}

const RECORDED_VERDICTS: ReadonlySet<unknown> = new Set([null, ...FINAL_VERDICTS])

/** @throws Error when the row has an unknown verdict or a malformed failure */
function readState({ verdict, in_doubt, error }: FileRow): AwardState {
  const failure = error === null ? undefined : (tryParseJson(error) ?? {})
  if (!RECORDED_VERDICTS.has(verdict) || (failure !== undefined && !isFailure(failure)))
    throw Object.assign(new Error('unrecognised entry'), { errcode: SQLITE_CORRUPT })
  return {
    verdict: verdict ?? undefined,
    failure,
    // In older ledgers, an award whose process was killed has `in_doubt` 0, and neither verdict nor error.
    isInDoubt: in_doubt === 1 || (verdict === null && error === null),
    claim: 'none',
  }
}

const isFailure = (value: unknown): value is AwardFailure =>
  isRecord(value) && typeof value.code === 'string' && typeof value.message === 'string'

interface FileAttempt extends Attempt {
  readonly rowid: number
  readonly begunAt: number
  /** The claimed award. */
  readonly stored: AwardState
  /** The row before the claim; `undefined` if the claim inserted it. */
  readonly before: FileRow | undefined
}

interface Opener {
  readonly run: string
  readonly target: ClientTarget | undefined
  readonly rebind: Rebind | undefined
  /** The state that the ledger must have. */
  readonly state?: LedgerState | undefined
}

/** @param checks - `always` checks for damage; `crash` checks only if the last process was killed */
function openFile(path: string, opener: Opener, checks: 'always' | 'crash' = 'always'): SqliteDatabase {
  closeIfIdle(path)
  const file = findFile(path)
  requireNotLost(path)
  let database: SqliteDatabase | undefined
  try {
    if (file === undefined) createFile(path)
    const isChecked = checks === 'always' || exists(`${path}-wal`) || exists(`${path}-journal`)
    database = openSqlite('fileLedger', path)
    database.exec(`${LOCK}; BEGIN EXCLUSIVE`)
    if (file !== undefined && (file.mode & 0o077) !== 0) makePrivate(path)
    if (isNew(database)) {
      database.exec(CREATE)
      database.prepare('INSERT INTO run (name, begun_at) VALUES (?, ?)').run(opener.run, Date.now())
    } else if (isChecked) requireIntact(path, database)
    checkHeader(path, headerOf(path, database), opener)
    if (opener.state !== undefined) requireState(path, database, opener.state)
    recordTarget(database, opener.target)
    database.exec('COMMIT; PRAGMA journal_mode = WAL')
    return database
  } catch (error) {
    database?.close()
    throw explained(path, error)
  }
}

function recordTarget(database: SqliteDatabase, target: ClientTarget | undefined): void {
  if (target === undefined) return
  const text = JSON.stringify(target)
  // Not ?1: node:sqlite of Node.js 22.13 cannot bind it.
  database.prepare('UPDATE run SET target = ? WHERE target IS NOT ?').run(text, text)
}

/** @throws ConfigurationError when SQLite finds the file damaged */
function requireIntact(path: string, database: SqliteDatabase): void {
  const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string }
  if (found !== 'ok') throw lost(path, DAMAGED)
}

/** @throws ConfigurationError with the cause `LEDGER_CHANGED` when the ledger has another state */
function requireState(path: string, database: SqliteDatabase, state: LedgerState): void {
  if (stateOf(database) !== state) throw unusable(path, 'it has changed since the plan was made', LEDGER_CHANGED)
}

/** Counts the awards and their results, and adds up their times, in integers that do not overflow. */
const STATE = `SELECT count(*) || ' ' || count(verdict) || ' ' ||
    coalesce(sum((rowid * 1000003 + coalesce(settled_at, begun_at, 0)) % 2147483647), 0) || ' ' ||
    coalesce(sum(unicode(verdict) + length(id) * 131 + in_doubt * 7), 0) AS state
  FROM awards`

const stateOf = (database: SqliteDatabase): LedgerState =>
  (database.prepare(STATE).get() as { readonly state: LedgerState }).state

/** Returns whether the database has no tables: the file is empty, or its first run was killed before it created them. */
function isNew(database: SqliteDatabase): boolean {
  const { application, version, tables } = database.prepare(IDENTITY).get() as Record<string, number>
  if (application === 0 && version === 0 && tables === 0) return true
  if (application !== APPLICATION_ID) throw new Error('it is an SQLite database of another program. Use another file')
  if (version !== TABLES_VERSION) {
    throw new Error(
      `it has version ${version} of the tables, and this package uses version ${TABLES_VERSION}. Use another file, or the ` +
        'version of the package that wrote it',
    )
  }
  return false
}

/** @throws ConfigurationError when the header is damaged */
function headerOf(path: string, database: SqliteDatabase): LedgerHeader {
  const stored = database.prepare('SELECT name, target FROM run').get() as Record<string, string | null> | undefined
  const target = stored?.target == null ? null : tryParseJson(stored.target)
  if (typeof stored?.name !== 'string' || (target !== null && !isRecord(target))) throw lost(path, DAMAGED)
  const hasAwards = database.prepare('SELECT 1 FROM awards LIMIT 1').get() !== undefined
  return { run: stored.name, target: target as ClientTarget | null, hasAwards }
}

/** @throws ConfigurationError when the ledger belongs to another run, or has awards of another target */
function checkHeader(path: string, { run: name, target: recorded, hasAwards }: LedgerHeader, opener: Opener): void {
  const { run, target, rebind } = opener
  if (name !== run) {
    const names = `it belongs to the run ${toJsonLine(name)}, and this is the run ${toJsonLine(run)}`
    throw unusable(path, `${names}. Use its run name, or another file`)
  }
  if (hasAwards) requireTarget(ledgerAt(path), recorded ?? undefined, target, rebind)
}

/**
 * Writes to an open file. Changes of one turn of the event loop share a transaction. After a failed commit every change
 * fails, because the content of the disk is unknown until the file is opened again.
 */
class FileSession implements LedgerSession {
  readonly #path: string
  readonly #file: Stats | undefined
  readonly #database: SqliteDatabase
  readonly #select
  readonly #insert
  readonly #update
  readonly #delete
  /** The attempts in progress, by id. */
  readonly #attempts = new Map<string, PromiseWithResolvers<void>>()
  /** The commit of the open transaction. */
  #commit: Promise<void> | undefined
  #failure: { readonly reason: unknown } | undefined

  constructor(path: string, database: SqliteDatabase) {
    this.#path = path
    this.#file = findFile(path)
    this.#database = database
    this.#select = database.prepare(`SELECT ${COLUMNS} FROM awards WHERE id = ?`)
    this.#insert = database.prepare(
      'INSERT INTO awards (id, address, pid, xp, in_doubt, begun_at) VALUES (?, ?, ?, ?, 1, ?)',
    )
    this.#update = database.prepare(
      'UPDATE awards SET verdict = ?, in_doubt = ?, error = ?, begun_at = ?, settled_at = ? WHERE rowid = ?',
    )
    this.#delete = database.prepare('DELETE FROM awards WHERE rowid = ?')
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /**
   * Claims an award for a call of `awardOne`. Waits for an attempt at the same award, whose final verdict counts for both.
   *
   * @throws ConfigurationError when the ledger belongs to another run or target than the opener's
   */
  async claimFor(opener: Opener, row: AwardRow, retryable: RetryableVerdicts): Promise<AwardClaim> {
    const known = await this.findConflict(row)
    if (known !== undefined) return { state: 'conflict', known }
    let allowed = retryable
    for (let other = this.#attempts.get(row.id); other !== undefined; other = this.#attempts.get(row.id)) {
      await other.promise
      allowed = { rejected: false, unconfirmed: false }
    }
    if (this.#failure !== undefined) throw this.#failure.reason
    // The check, the target and the claim are one turn, so that no award of another target comes between.
    try {
      checkHeader(this.#path, headerOf(this.#path, this.#database), opener)
    } catch (error) {
      throw explained(this.#path, error)
    }
    const bound = this.#write(() => recordTarget(this.#database, opener.target))
    const [claim] = await Promise.all([this.claim(row, allowed), bound])
    return claim
  }

  async claim(row: AwardRow, retryable: RetryableVerdicts): Promise<AwardClaim> {
    const before = this.#read(row.id)
    if (before && !isSameAward(row, before)) return { state: 'conflict', known: before }
    const claim = claimAward(before && this.#readState(before), retryable)
    if (claim.state === 'done') return claim
    // The file has no claims.
    if (claim.state === 'busy') return { ...claim, retryMs: 0 }
    const { stored, previousVerdict } = claim
    const begunAt = Date.now()
    this.#attempts.set(row.id, Promise.withResolvers())
    try {
      const rowid = await this.#write(() => {
        const { id, address, pid, xp } = row
        if (before === undefined) return Number(this.#insert.run(id, address, pid, xp, begunAt).lastInsertRowid)
        this.#save(before.rowid, stored, begunAt, null)
        return before.rowid
      })
      const { isInDoubt } = stored
      const attempt: FileAttempt = { row, isInDoubt, previousVerdict, rowid, begunAt, stored, before }
      return { state: 'claimed', attempt }
    } catch (error) {
      this.#ended(row)
      throw error
    }
  }

  /** Lets the next attempt at an award begin. */
  #ended({ id }: AwardRow): void {
    this.#attempts.get(id)?.resolve()
    this.#attempts.delete(id)
  }

  async complete(attempt: Attempt, verdict: Verdict, failure?: AwardFailure): Promise<Verdict | 'busy'> {
    const { row, rowid, begunAt, stored, isInDoubt } = attempt as FileAttempt
    const completed = completeAward(stored, { isInDoubt, holdsClaim: true }, verdict, failure)
    await this.#write(() => this.#save(rowid, completed.stored, begunAt, Date.now())).finally(() => this.#ended(row))
    return completed.result
  }

  async release(attempt: Attempt, failure?: AwardFailure): Promise<void> {
    const { row, rowid, begunAt, stored, before, isInDoubt, previousVerdict } = attempt as FileAttempt
    const released = releaseAward(stored, { isInDoubt, holdsClaim: true, previousVerdict }, failure)
    const [begun, settled] =
      failure === undefined ? [before?.begun_at ?? begunAt, before?.settled_at ?? null] : [begunAt, Date.now()]
    await this.#write(() => {
      if (released === undefined) this.#delete.run(rowid)
      else this.#save(rowid, released, begun, settled)
    }).finally(() => this.#ended(row))
  }

  async lookUp(row: AwardRow): Promise<AwardResult | undefined> {
    const stored = this.#read(row.id)
    return stored && isSameAward(row, stored) ? resultOf(this.#readState(stored)) : undefined
  }

  async findConflict(row: AwardRow): Promise<AwardRow | undefined> {
    const stored = this.#read(row.id)
    return stored && !isSameAward(row, stored) ? stored : undefined
  }

  async close(): Promise<void> {
    try {
      // Leaves one file that can be read anywhere.
      if (this.#failure === undefined) this.#database.exec('PRAGMA journal_mode = DELETE')
    } catch (error) {
      throw explained(this.#path, error)
    } finally {
      this.#database.close()
    }
  }

  /** Reads an award, with the changes that are not committed yet. */
  #read(id: string): FileRow | undefined {
    if (this.#failure !== undefined) throw this.#failure.reason
    try {
      return this.#select.get(id) as FileRow | undefined
    } catch (error) {
      throw explained(this.#path, error)
    }
  }

  #readState(stored: FileRow): AwardState {
    try {
      return readState(stored)
    } catch (error) {
      throw explained(this.#path, error)
    }
  }

  /** Writes the state of an award. A claimed award has no verdict, and is in doubt if the process is killed. */
  #save(rowid: number, stored: AwardState, begunAt: number, settledAt: number | null): void {
    const { verdict, failure, isInDoubt } = stored.claim === 'held' ? { isInDoubt: true } : stored
    const error = failure === undefined ? null : JSON.stringify(failure)
    this.#update.run(verdict ?? null, Number(isInDoubt), error, begunAt, settledAt, rowid)
  }

  /** Makes a change in the transaction of this turn. Resolves to its result when it is committed. */
  async #write<Result>(change: () => Result): Promise<Result> {
    if (this.#failure !== undefined) throw this.#failure.reason
    let result: Result
    try {
      this.#commit ??= this.#begin()
      result = change()
    } catch (error) {
      throw this.#fail(error)
    }
    await this.#commit
    return result
  }

  /** Begins a transaction. @returns its commit, after this turn of the event loop */
  #begin(): Promise<void> {
    this.#database.exec('BEGIN IMMEDIATE')
    const commit = nextTurn().then(() => {
      if (this.#failure !== undefined) throw this.#failure.reason
      this.#commit = undefined
      try {
        this.#requireSameFile()
        this.#database.exec('COMMIT')
      } catch (error) {
        throw this.#fail(error)
      }
    })
    // If the first change fails, nobody waits for the commit.
    commit.catch(() => undefined)
    return commit
  }

  /** SQLite would go on writing to a file that was deleted or replaced, and the next run would not find the awards. */
  #requireSameFile(): void {
    const file = findFile(this.#path)
    if (file?.ino === this.#file?.ino && file?.dev === this.#file?.dev) return
    const change = file === undefined ? 'deleted' : 'replaced'
    throw lost(this.#path, `another program has ${change} it during the run. ${RESTORE}`)
  }

  /** Rolls the transaction back, and fails every later change. @returns the reason */
  #fail(error: unknown): unknown {
    const reason = explained(this.#path, error)
    this.#failure = { reason }
    try {
      this.#database.exec('ROLLBACK')
    } catch {
      // SQLite has rolled back.
    }
    return reason
  }
}

/** How long a call of `awardOne` waits for a file that is in use. */
const MAX_BUSY_MS = 5_000
const BUSY_CHECK_MS = 50
/**
 * A file is closed after this time without a call of `awardOne`, so that others can use it. A file that was open for longer is
 * closed when the last call ends: otherwise a process with an award every half second would keep it.
 */
const MAX_IDLE_MS = 1_000

/** The file of the calls of `awardOne` in this process. */
interface SharedFile {
  /** Returns a session for one call; `undefined` if the file can't be used any more. */
  join(opener: Opener): AwardSession | undefined
  /** Closes the file, unless a call uses it. */
  closeIfIdle(): void
  /** Closes the file at the end of the process. */
  close(): void
}

/** The open files by path, shared by every copy of the package: SQLite gives a file to one connection at a time. */
const SHARED_FILES = Symbol.for('campaign-client.ledger-files')

function sharedFiles(): Map<string, SharedFile> {
  const scope = globalThis as { [SHARED_FILES]?: Map<string, SharedFile> }
  if (scope[SHARED_FILES] === undefined) {
    const files = new Map<string, SharedFile>()
    scope[SHARED_FILES] = files
    // The process does not wait for the timers of idle files.
    process.once('exit', () => {
      for (const file of files.values()) file.close()
    })
  }
  return scope[SHARED_FILES]
}

const closeIfIdle = (path: string): void => sharedFiles().get(path)?.closeIfIdle()

/** Opens a file for one call of `awardOne`. @returns `undefined` if it was in use for `MAX_BUSY_MS` */
async function openForOne(path: string, opener: Opener): Promise<AwardSession | undefined> {
  const until = performance.now() + MAX_BUSY_MS
  for (;;) {
    const shared = sharedFiles().get(path)
    const session = shared === undefined ? openShared(path, opener)?.join(opener) : shared.join(opener)
    if (session !== undefined) return session
    if (performance.now() >= until) return undefined
    await sleep(BUSY_CHECK_MS)
  }
}

/** @returns `undefined` if a run or another process uses the file. @throws ConfigurationError when it can't be used */
function openShared(path: string, opener: Opener): SharedFile | undefined {
  let session: FileSession
  try {
    session = new FileSession(path, openFile(path, opener, 'crash'))
  } catch (error) {
    if (sqliteProblem((error as Error).cause) === 'busy') return undefined
    throw error
  }
  const openedAt = performance.now()
  let calls = 0
  let cancelClose: () => void = () => undefined
  const close = (): void => {
    cancelClose()
    sharedFiles().delete(path)
    // Every verdict is committed. The next call to open the file fails if it is damaged.
    session.close().catch(() => undefined)
  }
  const leave = async (): Promise<void> => {
    calls--
    if (calls > 0) return
    if (session.hasFailed || performance.now() - openedAt > MAX_IDLE_MS) close()
    else cancelClose = startTimer(MAX_IDLE_MS, close)
  }
  const shared: SharedFile = {
    join(caller) {
      if (session.hasFailed) return undefined
      cancelClose()
      calls++
      return {
        claim: (row, retryable) => session.claimFor(caller, row, retryable),
        complete: (attempt, verdict, failure) => session.complete(attempt, verdict, failure),
        release: (attempt, failure) => session.release(attempt, failure),
        close: leave,
      }
    },
    closeIfIdle() {
      if (calls === 0) close()
    },
    close,
  }
  sharedFiles().set(path, shared)
  return shared
}

const mustBePath: OptionRule = (path) => {
  if (typeof path !== 'string') return `must be a string, got ${typeName(path)}`
  return path === '' || path === ':memory:' ? `must be the path of a file, got ${JSON.stringify(path)}` : undefined
}

/**
 * Returns the file of a ledger; `undefined` if there is none.
 *
 * It must not open the file, not even to read it: closing the descriptor would end the lock of a run in this process. See
 * https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
 *
 * @throws ConfigurationError when the path can't be a ledger
 */
function findFile(path: string): Stats | undefined {
  let file: Stats | undefined
  try {
    file = statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw explained(path, error)
  }
  // SQLite would fail later, when it creates the file beside it.
  if (Buffer.byteLength(basename(path)) > MAX_NAME_BYTES) {
    throw unusable(path, `its name is too long: use at most ${MAX_NAME_BYTES} bytes`)
  }
  if (file === undefined) return undefined
  if (file.isDirectory()) throw unusable(path, 'it is a directory. Name a file')
  if (!file.isFile()) throw unusable(path, 'it is not a regular file. Name a file')
  if (file.nlink > 1) throw unusable(path, `it has ${file.nlink} hard links. Remove all but one`)
  if (file.size > 0 && file.size < MIN_SIZE && !exists(`${path}-journal`)) {
    throw unusable(path, FOREIGN)
  }
  return file
}

/** A file name has at most 255 bytes, and SQLite appends `-journal`. */
const MAX_NAME_BYTES = 255 - '-journal'.length
/** The smallest SQLite database. SQLite takes a smaller file for a new database. */
const MIN_SIZE = 512

/** Returns whether a file exists. Node's permission model may allow access to the ledger alone: then returns false. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_ACCESS_DENIED') return false
    throw error
  }
}

/** SQLite would delete a `-wal` or `-journal` file without a database, and with it the last entries of the ledger. */
function requireNotLost(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size
  // A run that was killed while it created the ledger leaves an empty file, and a journal but no -wal file.
  const left = size === undefined ? [`${path}-wal`, `${path}-journal`] : size === 0 ? [`${path}-wal`] : []
  const found = left.find(exists)
  if (found === undefined) return
  const problem = size === undefined ? 'it is missing' : 'it is empty'
  throw lost(path, `${problem}, but ${toVisible(found)} still exists. ${RESTORE}`)
}

/** Lets nobody but the owner read or write the file. */
function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o600)
  } catch (error) {
    // Another user owns it, or the disk is read-only.
    throw unusable(path, notWritable(path), error)
  }
}

/** SQLite also writes to the folder. After a crash, even a reader needs write access. */
const notWritable = (path: string): string =>
  `it can be read, but it or its folder can't be written. Copy ${toVisible(path)}, with its -wal file if there ` +
  'is one, to a folder that can be written, and use the copy'

/** SQLite would create a file that others can read. */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    // Another process has just created it, or the path is a link to a missing file.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || findFile(path) === undefined) throw error
  }
}

const DAMAGED = 'it is damaged. Restore it, with its -wal file if there is one, from a backup'
const RESTORE =
  'Restore it from a backup, without the -wal file that it left. Without its entries, only confirm can find earlier awards, ' +
  'and a row with a new id could be awarded twice'
const FOREIGN = 'it is not an SQLite database. Use another file'
const NO_ACCESS = 'check the permissions of the file and its folder'

const ledgerAt = (path: string): string => `the ledger ${toVisible(path)}`

/** Returns the error for a ledger that can't be used. @param reason - without a full stop */
const unusable = (path: string, reason: string, cause?: unknown): ConfigurationError =>
  new ConfigurationError(`${ledgerAt(path)} can't be used: ${reason}`, { cause })

/** Returns the error for a ledger that must be restored. */
const lost = (path: string, reason: string, cause?: unknown): ConfigurationError =>
  withParts(unusable(path, reason, cause), { isLedgerLost: true })

/** Codes of a full disk, a failing disk and too many open files. They do not mean that the ledger is wrong. */
const SYSTEM_ERRORS: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE'])

const SQLITE_CORRUPT = 11
/** After a crash, a file that can't be written can't be locked either. */
const SQLITE_IOERR_LOCK = 3_850

function explained(path: string, error: unknown): unknown {
  if (error instanceof CampaignError || !(error instanceof Error)) return error
  const { code } = error as NodeJS.ErrnoException
  if (SYSTEM_ERRORS.has(code)) return error
  const problem = sqliteProblem(error)
  const isReadOnly = problem === 'readonly' || (error as { errcode?: unknown }).errcode === SQLITE_IOERR_LOCK
  if (isReadOnly) return unusable(path, notWritable(path), error)
  if (problem === 'full') return systemError(path, 'ENOSPC', 'the disk is full', error)
  if (problem === 'ioerr') return systemError(path, 'EIO', error.message, error)
  if (problem === 'corrupt') return lost(path, DAMAGED, error)
  return unusable(path, reasonOf(path, problem ?? code) ?? error.message, error)
}

function reasonOf(path: string, code: string | undefined): string | undefined {
  switch (code) {
    case 'busy':
      return 'this or another process is using it: a run, readLedger or the sqlite3 shell'
    case 'notadb':
      return FOREIGN
    case 'cantopen':
      return `SQLite can't write it or its journal beside it; ${NO_ACCESS}`
    case 'ENOENT':
    case 'ENOTDIR':
      return 'its folder does not exist. Create the folder'
    case 'EEXIST':
      return 'it is a symbolic link to a missing file. Remove the link'
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `permission denied (${code}); ${NO_ACCESS}`
    case 'ERR_ACCESS_DENIED':
      return `Node.js denies it; grant --allow-fs-read=${toVisible(path)} and --allow-fs-write=${toVisible(path)}`
    default:
      return undefined
  }
}

/** An error of the disk, with the code that Node.js would give it. */
const systemError = (path: string, code: 'ENOSPC' | 'EIO', reason: string, cause: Error): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: the ledger ${toVisible(path)} can't be written: ${reason}`, { cause }), {
    code,
    errno: -constants.errno[code],
    path,
  })
