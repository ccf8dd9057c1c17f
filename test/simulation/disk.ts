import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { currentProcess, Dead, type Process, type World } from './world.ts'

/** SQLite's fsync costs nothing there. */
const MEMORY = '/dev/shm'
const SIDE_FILES = ['', '-wal', '-journal', '-shm']

/**
 * The disk of a world: real SQLite files through node:sqlite. A statement is a port of its process. A process that dies
 * leaves the file and its -wal file as they are at that moment.
 */
export class Disk {
  readonly folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'campaign-simulation-'))
  isFull = false
  readonly world: World
  readonly #connections = new Set<Connection>()
  readonly #getBuiltinModule = process.getBuiltinModule

  constructor(world: World) {
    this.world = world
    const open = (path: string) => new Connection(this, path)
    const sqlite = {
      DatabaseSync: function Database(path: string) {
        return open(path)
      },
    }
    process.getBuiltinModule = ((name: string) =>
      name === 'node:sqlite' && currentProcess() ? sqlite : this.#getBuiltinModule(name)) as never
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** Runs a query on a copy of the files, as a process that starts now would find them. Without the table, returns no rows. */
  query<Row>(name: string, sql: string): Row[] {
    if (!existsSync(this.path(name))) return []
    const copy = this.path('copy')
    this.#copy(this.path(name), copy)
    const database = new DatabaseSync(copy)
    try {
      return database.prepare(sql).all() as Row[]
    } catch (error) {
      if (/no such table/.test(String(error))) return []
      throw error
    } finally {
      database.close()
      for (const suffix of SIDE_FILES) rmSync(copy + suffix, { force: true })
    }
  }

  opened(connection: Connection): void {
    this.#connections.add(connection)
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection)
  }

  /** Ends the connections of a process that died. */
  abandon(owner: Process): void {
    const own = [...this.#connections].filter((connection) => connection.owner === owner)
    for (const path of new Set(own.map((connection) => connection.path))) {
      const others = [...this.#connections].some((other) => other.path === path && other.owner !== owner)
      const copy = `${path}.left`
      // Closing the last connection would move the -wal file into the database.
      if (!others) this.#copy(path, copy)
      for (const connection of own) if (connection.path === path) connection.end()
      if (others) continue
      for (const suffix of SIDE_FILES) {
        rmSync(path + suffix, { force: true })
        if (existsSync(copy + suffix)) renameSync(copy + suffix, path + suffix)
      }
    }
  }

  #copy(from: string, to: string): void {
    for (const suffix of SIDE_FILES) {
      if (suffix !== '-shm' && existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix)
    }
  }

  remove(): void {
    for (const connection of this.#connections) connection.end()
    process.getBuiltinModule = this.#getBuiltinModule
    rmSync(this.folder, { recursive: true })
  }
}

const IS_WRITE = /^\s*(INSERT|UPDATE|DELETE|COMMIT|CREATE|BEGIN|PRAGMA journal_mode)/i
const NEEDS_SPACE = /^\s*(INSERT|UPDATE|COMMIT)/i

/** A `DatabaseSync` of a process. */
class Connection {
  readonly path: string
  readonly owner: Process
  readonly #disk: Disk
  readonly #database: DatabaseSync

  constructor(disk: Disk, path: string) {
    this.path = path
    this.owner = currentProcess() as Process
    this.#disk = disk
    this.#requireAlive()
    this.#database = new DatabaseSync(path)
    // The clock of sqliteStore.
    this.#database.function('julianday', { varargs: true }, () => disk.world.wallNow / 86_400_000 + 2_440_587.5)
    disk.opened(this)
    this.owner.onDeath.push(() => disk.abandon(this.owner))
  }

  exec(sql: string): void {
    this.#operate(sql, () => this.#database.exec(sql))
  }

  prepare(sql: string) {
    const statement = this.#operate('', () => this.#database.prepare(sql))
    const call =
      <Method extends 'run' | 'get' | 'all' | 'iterate'>(method: Method) =>
      (...values: Parameters<StatementSync[Method]>) =>
        this.#operate(sql, () => (statement[method] as (...args: unknown[]) => unknown)(...values))
    return { run: call('run'), get: call('get'), all: call('all'), iterate: call('iterate') }
  }

  close(): void {
    this.#requireAlive()
    this.end()
  }

  end(): void {
    this.#disk.closed(this)
    this.#database.close()
  }

  #operate<T>(sql: string, work: () => T): T {
    this.#requireAlive()
    if (this.#disk.isFull && NEEDS_SPACE.test(sql)) {
      throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })
    }
    return IS_WRITE.test(sql) ? this.owner.use(work) : work()
  }

  #requireAlive(): void {
    if (!this.owner.isAlive) throw new Dead('the process is dead')
  }
}
