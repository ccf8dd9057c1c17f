import { copyFileSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ConfigurationError } from 'campaign-client'
import {
  type SqliteDatabase,
  type SqliteStore,
  type SqliteStoreOptions,
  sqliteSchema,
  sqliteStore,
} from 'campaign-client/webhook/sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { betterSqlite3Missing, openBetterSqlite3, sqliteFolder } from '../../databases/sqlite.ts'
import { skipsOnThisNode } from '../../support/skips-without.ts'
import { observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'
import { durationContract, failedClockContract, failedContract, pruneContract, storeContract } from './contract.ts'
import { runOnceOfEveryDatabase } from './run-once.ts'
import { claimed, freshKey } from './store-clock.ts'

const folder = sqliteFolder()
afterAll(() => folder.remove())

const openNode = (path: string): SqliteDatabase => new DatabaseSync(path)

/** Returns a function that opens a database with other results of `get`. */
const openWith =
  (change: (row: unknown) => unknown) =>
  (path: string): SqliteDatabase => {
    const database = openNode(path)
    return {
      exec: (sql) => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql)
        return {
          run: (...values) => statement.run(...values),
          get: (...values) => change(statement.get(...values)),
          all: (...values) => statement.all(...values),
          iterate: (...values) => statement.iterate(...values),
        }
      },
    }
  }

interface Client {
  readonly open: (path: string) => SqliteDatabase
  readonly missing?: string | undefined
  /** Whether the tests that wait for seconds run. The other clients differ from one of these only in the types of rows. */
  readonly isWhole?: boolean
}

/** The clients, and the settings that change the types of rows. */
const clients: Readonly<Record<string, Client>> = {
  'a DatabaseSync of node:sqlite': { open: openNode },
  'a DatabaseSync that returns arrays and bigints': {
    open: (path) => new DatabaseSync(path, { returnArrays: true, readBigInts: true } as object),
  },
  'a DatabaseSync that counts changes as rows': {
    open(path) {
      const database = new DatabaseSync(path)
      database.exec('PRAGMA count_changes = 1')
      return database
    },
  },
  // Bun 1.2
  'a Database that returns null for no row': { open: openWith((row) => row ?? null) },
  // libsql 0.5, the interface without promises
  'a Database that adds the duration to rows': {
    open: openWith((row) => row && { ...row, _metadata: { duration: 1 } }),
  },
  'a Database of better-sqlite3': {
    open: openBetterSqlite3,
    missing: betterSqlite3Missing,
    isWhole: true,
  },
  'a Database of better-sqlite3 with safe integers': {
    open: (path) => openBetterSqlite3(path).defaultSafeIntegers(true),
    missing: betterSqlite3Missing,
  },
}

describe('sqliteStore over a path', () => {
  let path: string
  beforeAll(() => {
    path = folder.file()
  })
  const stores: SqliteStore<SqliteDatabase>[] = []
  const open = (options?: SqliteStoreOptions) => {
    const store = sqliteStore(path, options)
    stores.push(store)
    return store
  }
  afterAll(() => {
    for (const store of stores) store.close()
  })

  storeContract(open)
  failedContract(open)
  durationContract(open)
  runOnceContract(open, () => path)
})

describe.each(Object.entries(clients))('sqliteStore over %s', (name, { open, missing, isWhole }) => {
  describe.skipIf(skipsOnThisNode(name, missing))('that you opened', () => {
    let path: string
    let databases: SqliteDatabase[]
    beforeAll(() => {
      path = folder.file()
      // Two connections, like two processes.
      databases = [open(path), open(path)]
      databases[0]?.exec(`PRAGMA journal_mode = WAL; ${sqliteSchema()}`)
      // No test of these ends a process, so none needs fsync.
      for (const database of databases) database.exec('PRAGMA synchronous = OFF')
    })
    afterAll(() => {
      for (const database of databases) database.close()
    })
    let opened = 0
    const openStore = (options?: SqliteStoreOptions) =>
      sqliteStore(databases[opened++ % databases.length] as SqliteDatabase, options)

    storeContract(() => openStore())
    failedContract(() => openStore())
    if (isWhole) durationContract(() => openStore())
    runOnceContract(openStore, () => path)
    failedClockContract(
      () => openStore(),
      (keys, ms) => {
        const list = keys.map((key) => `'${key}'`).join()
        databases[0]?.exec(`UPDATE campaign_deliveries SET expires_at = expires_at + ${ms} WHERE key IN (${list})`)
      },
    )

    test('close() leaves the database open', async () => {
      const store = openStore()
      store.close()
      await claimed(store, freshKey(), 1000)
    })

    test('retries while another connection holds the lock, without blocking the event loop', async () => {
      const [own, other] = databases as [SqliteDatabase, SqliteDatabase]
      own.exec('PRAGMA busy_timeout = 4321')
      other.exec('BEGIN IMMEDIATE')
      const claim = sqliteStore(own).claim(freshKey(), 1000)
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      other.exec('COMMIT')
      expect(await claim).toMatchObject({ state: 'claimed' })
      const [timeout] = Object.values(own.prepare('PRAGMA busy_timeout').get() as object)
      expect(Number(timeout)).toBe(4321)
    })

    test('refuses a call inside your own transaction, and leaves the transaction open', async () => {
      const [own] = databases as [SqliteDatabase]
      const store = sqliteStore(own)
      const key = freshKey()
      own.exec('BEGIN')
      for (const call of [() => store.claim(key, 1000), () => store.runOnce(key, () => expect.unreachable())]) {
        await expect(call()).rejects.toMatchObject({
          message: expect.stringMatching(/^sqliteStore: your database is inside a transaction\. Do not await/),
          cause: expect.any(Error),
        })
      }
      own.exec('COMMIT')
      await claimed(store, key, 1000)
    })
  })
})

/** The tests of `runOnce`. */
function runOnceContract(
  openStore: (options?: SqliteStoreOptions) => SqliteStore<SqliteDatabase>,
  pathOf: () => string,
): void {
  describe('runOnce', () => {
    let reader: DatabaseSync
    beforeAll(() => {
      reader = new DatabaseSync(pathOf())
      reader.exec('PRAGMA busy_timeout = 5000; CREATE TABLE IF NOT EXISTS applied (key TEXT NOT NULL)')
    })
    afterAll(() => reader.close())
    const apply = (db: SqliteDatabase, key: string) => {
      db.prepare('INSERT INTO applied (key) VALUES (?)').run(key)
    }
    const timesApplied = (key: string) =>
      reader.prepare('SELECT count(*) AS times FROM applied WHERE key = ?').get(key)?.times

    runOnceOfEveryDatabase<SqliteDatabase>(() => ({ open: openStore, apply, timesApplied }))

    test('shows no write to another connection before the commit', async () => {
      const key = freshKey()
      await openStore().runOnce(key, (db) => {
        apply(db, key)
        expect(timesApplied(key)).toBe(0)
      })
      expect(timesApplied(key)).toBe(1)
    })

    const called = vi.fn()
    test.each<[string, () => unknown]>([
      ['an async function', async () => called()],
      [
        'a generator',
        function* () {
          yield called()
        },
      ],
      [
        'an async generator',
        async function* () {
          yield called()
        },
      ],
    ])('refuses %s before it is called', async (_, apply) => {
      const store = openStore()
      const key = freshKey()
      const running = store.runOnce(key, apply)
      await expect(running).rejects.toThrow(TypeError)
      await expect(running).rejects.toThrow(/^the function of runOnce must be synchronous/)
      expect(called).not.toHaveBeenCalled()
      expect((await store.runOnce(key, () => 1)).ran).toBe(true)
    })

    test.each([
      ['a promise that resolves', () => Promise.resolve()],
      ['a promise that rejects', () => Promise.reject(new Error('later'))],
      ['a thenable', () => Object.fromEntries([['then', (done: (value: number) => void) => done(1)]])],
    ])('rolls back after a function that returns %s', async (_, promise) => {
      const store = openStore()
      const key = freshKey()
      const running = store.runOnce(key, (db) => {
        apply(db, key)
        return promise()
      })
      await expect(running).rejects.toThrow(TypeError)
      expect(timesApplied(key)).toBe(0)
      expect((await store.runOnce(key, () => 1)).ran).toBe(true)
    })

    test.each([
      ['ROLLBACK', ['ROLLBACK'], 0],
      ['COMMIT', ['COMMIT'], 1],
      ['a ROLLBACK and a BEGIN', ['ROLLBACK', 'BEGIN'], 0],
      ['a COMMIT and a BEGIN', ['COMMIT', 'BEGIN'], 1],
    ])('rejects after its function executed %s', async (_, statements, times) => {
      const store = openStore()
      const key = freshKey()
      const running = store.runOnce(key, (db) => {
        apply(db, key)
        for (const statement of statements) db.exec(statement)
      })
      await expect(running).rejects.toMatchObject({
        message: expect.stringMatching(/^the function of runOnce committed or rolled back, .* return to commit$/),
        cause: expect.any(Error),
      })
      expect(timesApplied(key)).toBe(times)
      expect((await store.runOnce(key, (db) => apply(db, key))).ran).toBe(times === 0)
      expect(timesApplied(key)).toBe(1)
    })

    test('permits savepoints in its function', async () => {
      const key = freshKey()
      const outcome = await openStore().runOnce(key, (db) => {
        apply(db, key)
        db.exec('SAVEPOINT before')
        apply(db, key)
        db.exec('ROLLBACK TO before; RELEASE before')
      })
      expect(outcome.ran).toBe(true)
      expect(timesApplied(key)).toBe(1)
    })

    test('refuses a call of the store in its function', async () => {
      const store = openStore()
      const nested: Promise<unknown>[] = []
      await store.runOnce(freshKey(), () => {
        nested.push(store.runOnce(freshKey(), () => 1).catch((error: Error) => error.message))
      })
      expect(await nested[0]).toMatch(/inside a transaction/)
    })

    test('remembers a key for 365 days by default', async () => {
      const key = freshKey()
      await openStore().runOnce(key, () => 1)
      const days = "CAST(round((expires_at / 1000 - unixepoch('now')) / 86400.0) AS INTEGER)"
      const row = reader.prepare(`SELECT ${days} AS days FROM campaign_deliveries WHERE key = ?`).get(key)
      expect(row?.days).toBe(365)
    })
  })
}

describe('the file of sqliteStore', () => {
  const open = (path: string) => {
    const store = sqliteStore(path)
    onTestFinished(() => store.close())
    return store
  }

  test('is created at the first use, in WAL mode with synchronous = FULL', async () => {
    const path = folder.file()
    const store = open(path)
    expect(() => statSync(path)).toThrow(/ENOENT/)
    const outcome = await store.runOnce(freshKey(), (db) =>
      ['journal_mode', 'synchronous', 'busy_timeout'].flatMap((name) =>
        Object.values(db.prepare(`PRAGMA ${name}`).get() as object),
      ),
    )
    expect(outcome).toEqual({ ran: true, result: ['wal', 2, 0] })
  })

  test('keeps its records after it was closed', async () => {
    const path = folder.file()
    const first = open(path)
    const key = freshKey()
    await first.complete(key, await claimed(first, key, 60_000), 60_000)
    first.close()
    await expect(first.claim(key, 60_000)).rejects.toThrow('sqliteStore: the store is closed')
    first.close()
    expect(await open(path).claim(key, 60_000)).toEqual({ state: 'done' })
  })

  test('of an earlier version gets the columns of kept messages, and keeps its records', async () => {
    const path = folder.file()
    const key = freshKey()
    const older = openNode(path)
    older.exec(`CREATE TABLE campaign_deliveries (
      purpose TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL, token TEXT, expires_at INTEGER NOT NULL,
      PRIMARY KEY (purpose, key)) STRICT, WITHOUT ROWID`)
    await sqliteStore(older).complete(key, 'token', 60_000)
    older.close()
    const message = { endpoint: 'campaign', rawBody: new Uint8Array([1]), retainMs: 60_000 }
    expect(await open(path).claim(key, 1000, message)).toEqual({ state: 'done' })
    expect(await open(path).claim(freshKey(), 1000, message)).toMatchObject({ state: 'claimed' })
  })

  test('can be shared by stores with different tables', async () => {
    const path = folder.file()
    const key = freshKey()
    for (const table of ['orders', 'Order_2']) {
      const store = sqliteStore(path, { table })
      onTestFinished(() => store.close())
      await claimed(store, key, 60_000)
    }
  })

  test('can be opened for the first time by many stores at once', async () => {
    const path = folder.file()
    const key = freshKey()
    const claims = await Promise.all(Array.from({ length: 10 }, () => open(path).claim(key, 60_000)))
    expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1)
  })

  test.each([
    ['in a missing folder', () => undefined, /: its folder must exist/],
    ['that is a folder', (path: string) => mkdirSync(path), /: its folder must exist, and the file must be writable$/],
    ['that is no database', (path: string) => writeFileSync(path, 'address,xp\n'.repeat(100)), /not a database$/],
  ])('%s causes an error that names the file, at every call', async (name, create, words) => {
    const path = name === 'in a missing folder' ? `${folder.file()}/file.db` : folder.file()
    create(path)
    const store = open(path)
    for (let call = 0; call < 2; call++) {
      const error = await store.claim(freshKey(), 1000).catch((reason: Error) => reason)
      expect(error).toMatchObject({ message: expect.stringMatching(words), cause: expect.any(Error) })
      expect((error as Error).message).toContain(`sqliteStore can't use the file ${path}: `)
    }
  })

  test('is opened by a later call, once its folder exists', async () => {
    const path = `${folder.file()}/later/file.db`
    const store = open(path)
    await expect(store.claim(freshKey(), 1000)).rejects.toThrow(/can't use the file/)
    mkdirSync(dirname(path), { recursive: true })
    await claimed(store, freshKey(), 1000)
  })

  test('is opened when the lock of another connection ends', async () => {
    const path = folder.file()
    const other = openNode(path)
    onTestFinished(() => other.close())
    other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')
    const claim = open(path).claim(freshKey(), 60_000)
    other.exec('COMMIT')
    expect((await claim).state).toBe('claimed')
  })

  describe.each<[string, (path: string) => SqliteStore<SqliteDatabase>]>([
    ['a path', open],
    [
      'your own database',
      (path) => {
        const database = new DatabaseSync(path)
        onTestFinished(() => database.close())
        database.exec(`PRAGMA journal_mode = WAL; ${sqliteSchema()}`)
        return sqliteStore(database)
      },
    ],
  ])('over %s', (_, openStore) => {
    const replace = (file: string) => {
      copyFileSync(file, `${file}.copy`)
      renameSync(`${file}.copy`, file)
    }
    test.each<[string, string, (file: string) => void]>([
      ['FILE that is deleted', '', rmSync],
      ['FILE that is replaced', '', replace],
      ['FILE-wal that is deleted', '-wal', rmSync],
      ['FILE-wal that is replaced', '-wal', replace],
      ['FILE-shm that is deleted', '-shm', rmSync],
    ])('%s while it is open makes every later call reject', async (_name, suffix, change) => {
      const path = folder.file()
      const store = openStore(path)
      const key = freshKey()
      await claimed(store, key, 1000)
      change(path + suffix)
      const file = `${realpathSync(dirname(path))}/${basename(path)}${suffix}`
      for (const call of [() => store.claim(freshKey(), 1000), () => store.runOnce(key, () => expect.unreachable())]) {
        await expect(call()).rejects.toThrow(`sqliteStore: the file ${file} was deleted or replaced while it was open`)
      }
    })

    test('may become a file in WAL mode, or leave that mode, while it is open', async () => {
      const path = folder.file()
      const database = new DatabaseSync(path)
      onTestFinished(() => database.close())
      database.exec(sqliteSchema())
      const store = sqliteStore(database)
      for (const mode of ['DELETE', 'WAL', 'DELETE']) {
        database.exec(`PRAGMA journal_mode = ${mode}`)
        await claimed(store, freshKey(), 1000)
      }
    })
  })

  describe('while another connection holds its lock', () => {
    afterEach(() => {
      vi.useRealTimers()
    })

    async function lockedStore(openOther: (path: string) => SqliteDatabase = openNode) {
      const path = folder.file()
      const store = open(path)
      await claimed(store, freshKey(), 1000)
      const other = openOther(path)
      onTestFinished(() => other.close())
      other.exec('BEGIN IMMEDIATE')
      return { store, other }
    }

    test('calls reject after 5 s', async () => {
      const { store, other } = await lockedStore()
      vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
      const outcome = store.claim(freshKey(), 1000).catch((error: Error) => error)
      await vi.advanceTimersByTimeAsync(4_800)
      other.exec('COMMIT; BEGIN IMMEDIATE')
      await vi.advanceTimersByTimeAsync(400)
      expect(await outcome).toMatchObject({
        message: 'sqliteStore: the database is busy: another connection has locked it for 5000 ms',
        cause: expect.objectContaining({ message: 'database is locked' }),
      })
    })

    test('a claim that was given up is not made later', async () => {
      const { store, other } = await lockedStore()
      const key = freshKey()
      vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
      const outcome = store.claim(key, 60_000).catch((error: Error) => error.message)
      await vi.advanceTimersByTimeAsync(6_000)
      expect(await outcome).toMatch(/has locked it for 5000 ms$/)
      other.exec('COMMIT')
      await vi.advanceTimersByTimeAsync(60_000)
      await claimed(store, key, 60_000)
    })

    test('the receiver responds with 503 when its deadline is over, and handles the message afterwards', async () => {
      const { store, other } = await lockedStore()
      const { receiver, handled } = observedReceiver({ store, deadlineMs: 1_500 })
      const message = activity()
      expect((await receiver.fetch(deliveryOf(message))).status).toBe(503)
      expect(handled).toHaveLength(0)
      other.exec('COMMIT')
      await expect.poll(async () => (await receiver.fetch(deliveryOf(message))).status).toBe(200)
      expect(handled).toHaveLength(1)
    })

    test('runOnce calls its function once, after the lock is free', async () => {
      const { store, other } = await lockedStore()
      let calls = 0
      const running = store.runOnce(freshKey(), () => ++calls)
      await new Promise((resolve) => setImmediate(resolve))
      expect(calls).toBe(0)
      other.exec('COMMIT')
      expect(await running).toEqual({ ran: true, result: 1 })
    })

    test('a store that is closed rejects', async () => {
      const { store } = await lockedStore()
      const waiting = store.claim(freshKey(), 1000)
      store.close()
      await expect(waiting).rejects.toThrow('sqliteStore: the store is closed')
    })
  })
})

test('runOnce commits exactly once when a reader delays its commit in a database without WAL', async () => {
  const path = folder.file()
  const [own, reader] = [new DatabaseSync(path), new DatabaseSync(path)]
  onTestFinished(() => {
    own.close()
    reader.close()
  })
  own.exec(`PRAGMA journal_mode = DELETE; ${sqliteSchema()} CREATE TABLE applied (key TEXT)`)
  reader.exec('BEGIN; SELECT * FROM applied')
  const store = sqliteStore(own)
  const running = store.runOnce(freshKey(), (db) => db.exec("INSERT INTO applied VALUES ('a')"))
  await new Promise((resolve) => setImmediate(resolve))
  expect(own.prepare('SELECT count(*) AS times FROM applied').get()?.times).toBe(0)
  reader.exec('COMMIT')
  expect((await running).ran).toBe(true)
  expect(reader.prepare('SELECT count(*) AS times FROM applied').get()?.times).toBe(1)
})

describe('a table whose trigger drops inserts', () => {
  test('makes claim and runOnce reject', async () => {
    const database = new DatabaseSync(':memory:')
    onTestFinished(() => database.close())
    database.exec(`${sqliteSchema()}
      CREATE TRIGGER dropping BEFORE INSERT ON campaign_deliveries BEGIN SELECT RAISE(IGNORE); END`)
    const store = sqliteStore(database)
    const words = /^sqliteStore: the database did not store the record, .* drops inserts: remove it$/
    await expect(store.claim('key', 1000)).rejects.toThrow(words)
    await expect(store.runOnce('key', () => expect.unreachable())).rejects.toThrow(words)
  })
})

describe('prune', () => {
  let database: DatabaseSync
  beforeAll(() => {
    database = new DatabaseSync(':memory:')
    database.exec(sqliteSchema())
  })
  afterAll(() => database.close())
  pruneContract((options) => sqliteStore(database, options))
})

describe('a database of another package', () => {
  const other = vi.fn()
  const statement = { sql: 'SELECT', get: () => statement, all: () => statement, run: () => statement }
  test.each<[string, object]>([
    ['callbacks (sqlite3 5.1)', { exec: other, prepare: () => statement }],
    ['a promise of a statement (sqlite 5.1, libsql/promise 0.5)', { exec: other, prepare: async () => statement }],
    ['a promise that rejects', { exec: other, prepare: () => Promise.reject(new Error('no such database')) }],
    [
      'a promise of a row (@tursodatabase/database 0.7)',
      { exec: other, prepare: () => ({ get: async () => ({ answer: 1 }) }) },
    ],
    [
      'statements with first() (D1 of workers-types 4)',
      { exec: other, prepare: () => ({ first: other, all: other, run: other }) },
    ],
    ['rows after step() (sql.js 1.17)', { exec: other, prepare: () => ({ step: other, get: () => [], run: other }) }],
    ['texts', { exec: other, prepare: () => ({ get: () => ({ answer: '1' }) }) }],
    ['a row where there is none', { exec: other, prepare: () => ({ get: () => ({ answer: 1 }) }) }],
  ])('that returns %s is refused at each call, before it runs anything', async (_, database) => {
    const store = sqliteStore(database as SqliteDatabase)
    const calls = [() => store.claim('key', 1000), () => store.runOnce('key', () => expect.unreachable())]
    for (const call of [...calls, ...calls]) {
      const error = await call().catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(ConfigurationError)
      expect(String(error)).toMatch(
        /sqliteStore can't read rows: pass a DatabaseSync of node:sqlite or a Database of "better-sqlite3", or/,
      )
    }
    expect(other).not.toHaveBeenCalledWith('BEGIN IMMEDIATE')
  })

  test('that is not open rejects with its own error, and is used after it was opened', async () => {
    const database = new DatabaseSync(':memory:', { open: false })
    onTestFinished(() => database.close())
    const store = sqliteStore(database)
    await expect(store.claim('key', 1000)).rejects.toThrow('database is not open')
    database.open()
    database.exec(sqliteSchema())
    await claimed(store, 'key', 1000)
  })

  test('that is locked at its first use is asked again, without blocking the event loop', async () => {
    const path = folder.file()
    const [own, other] = [openNode(path), openNode(path)]
    onTestFinished(() => {
      own.close()
      other.close()
    })
    own.exec('PRAGMA busy_timeout = 60000')
    other.exec(`${sqliteSchema()} BEGIN EXCLUSIVE`)
    const claim = sqliteStore(own).claim('key', 1000)
    await new Promise((resolve) => setImmediate(resolve))
    other.exec('COMMIT')
    expect(await claim).toMatchObject({ state: 'claimed' })
    expect(own.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 60_000 })
  })
})

describe('the arguments of sqliteStore', () => {
  test.each<[string, unknown, string]>([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['an empty path', '', "''"],
    ['a URL', new URL('file:///deliveries.db'), 'object'],
    ['an object with only exec', { exec: () => undefined }, 'object'],
    [
      'a function with both methods',
      Object.assign(() => undefined, { exec: () => undefined, prepare: () => undefined }),
      'function',
    ],
  ])('%s is refused', (_, database, got) => {
    expect(() => sqliteStore(database as string)).toThrow(ConfigurationError)
    expect(() => sqliteStore(database as string)).toThrow(
      /^sqliteStore: database must be the path of a file, a DatabaseSync of node:sqlite or a Database of "better-sqlite3"; got /,
    )
    expect(() => sqliteStore(database as string)).toThrow(`; got ${got}`)
  })

  test.each<unknown>(['', 'a b', 'a"b', 'a.b', '1a', 'ä', 'a\n', 'sqlite_stat1', 'a'.repeat(64), 5, ['a']])(
    'the table %j is refused',
    (value) => {
      const table = value as string
      const got = typeof value === 'string' ? JSON.stringify(value) : value === 5 ? 'number' : 'array'
      expect(() => sqliteStore('x.db', { table })).toThrow(/^sqliteStore: table must be a name/)
      expect(() => sqliteStore('x.db', { table })).toThrow(`at most 63 characters; got ${got}`)
      expect(() => sqliteSchema(table)).toThrow(ConfigurationError)
      expect(() => sqliteSchema(table)).toThrow(/^sqliteSchema: table must be a name/)
    },
  )

  test('only the beginning sqlite_ is refused', () => {
    expect(sqliteSchema('my_sqlite_deliveries')).toContain('"my_sqlite_deliveries"')
  })

  test('without node:sqlite, a path is refused, and the error names the required Node.js version', () => {
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => undefined as never)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(() => sqliteStore('x.db')).toThrow(ConfigurationError)
    expect(() => sqliteStore('x.db')).toThrow(/^sqliteStore with a path needs node:sqlite \(Node\.js 22\.13 or newer\)/)
    expect(() =>
      sqliteStore({ exec: () => undefined, prepare: () => expect.unreachable(), close: () => undefined }),
    ).not.toThrow()
  })
})
