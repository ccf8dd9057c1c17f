import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ConfigurationError } from 'campaign-client'
import { type AwardRow, fileLedger, readLedger, rewardWallets } from 'campaign-client/bulk'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { EMPTY_STATE, type LedgerHeader, type LedgerState } from '../../src/bulk/ledger/file-ledger.ts'
import { LEDGER, LEDGER_CHANGED } from '../../src/bulk/ledger/ledger.ts'
import {
  award,
  awards,
  counts,
  entriesOf,
  newPath,
  openFiles,
  setup,
  stopErrorOf,
  temporaryFolder,
  verdictsOf,
} from './fixtures.ts'

/** Writes a ledger with several verdicts. */
async function mixedLedger(path: string) {
  const { client, service } = setup()
  service.fail({ on: 'rewardWallet', kind: 'applied_then_reset', times: 2 })
  service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 2 })
  service.fail({ on: 'rewardWallet', kind: 'status', status: 429, headers: { 'retry-after': '0' } })
  await rewardWallets(client, awards(12), { ledger: fileLedger(path), concurrency: 1 })
  return { client, service }
}

/** Reads rows of a ledger without the package. */
function query(path: string, sql: string): unknown[] {
  const database = new DatabaseSync(path)
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

/** Copies a ledger in another process, as the file system has it: a copy in this process would end its locks. */
function copyLedger(path: string): string {
  const copy = newPath()
  execFileSync('cp', [path, copy])
  if (existsSync(`${path}-wal`)) execFileSync('cp', [`${path}-wal`, `${copy}-wal`])
  return copy
}

describe('the file of a ledger', () => {
  test('has the documented tables', async () => {
    const path = newPath()
    const before = Date.now()
    await mixedLedger(path)
    const columns = (table: string) => query(path, `SELECT name, type, pk FROM pragma_table_info('${table}')`)
    const column = (name: string, type: string, pk = 0) => ({ name, type, pk })
    expect(columns('run')).toEqual([column('name', 'TEXT'), column('target', 'TEXT'), column('begun_at', 'INTEGER')])
    expect(columns('awards')).toEqual([
      column('id', 'TEXT', 1),
      column('address', 'TEXT'),
      column('pid', 'TEXT'),
      column('xp', 'REAL'),
      column('verdict', 'TEXT'),
      column('in_doubt', 'INTEGER'),
      column('error', 'TEXT'),
      column('begun_at', 'INTEGER'),
      column('settled_at', 'INTEGER'),
    ])
    expect(
      query(path, "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'"),
    ).toEqual(
      expect.arrayContaining([
        { name: 'awards', strict: 1 },
        { name: 'run', strict: 1 },
      ]),
    )
    const [run] = query(path, 'SELECT * FROM run') as [{ name: string; target: string; begun_at: number }]
    expect(run.name).toBe('default')
    expect(JSON.parse(run.target)).toEqual({ address: 'https://service.example/api/v1/', issuer: null, subject: null })
    expect(run.begun_at).toBeGreaterThanOrEqual(before)
    const stored = query(path, 'SELECT * FROM awards ORDER BY id') as Record<string, unknown>[]
    const [open, , , awarded] = stored
    expect(open).toMatchObject({ ...award(0), verdict: null, in_doubt: 1, error: expect.stringContaining('"network"') })
    expect(awarded).toMatchObject({ verdict: 'awarded', in_doubt: 0, error: null })
    for (const { begun_at, settled_at } of stored) {
      expect(begun_at).toBeGreaterThanOrEqual(before)
      expect(settled_at).toBeGreaterThanOrEqual(begun_at as number)
      expect(settled_at).toBeLessThanOrEqual(Date.now())
    }
  })

  test('is one file after a run, and its owner alone can read it', async () => {
    const { client } = setup()
    const path = newPath()
    const modes: number[] = []
    const watching = {
      async rewardWallet(row: AwardRow) {
        modes.push(...[path, `${path}-wal`].map((file) => statSync(file).mode & 0o777))
        await client.rewardWallet(row)
      },
    }
    await rewardWallets(watching, awards(1), { ledger: fileLedger(path) })
    expect(modes).toEqual([0o600, 0o600])
    expect(readdirSync(dirname(path))).toEqual([basename(path)])
    expect(query(path, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'delete' }])
    expect(openFiles(path)).toEqual([])
    chmodSync(path, 0o644)
    await rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('has an absolute path, and the run has a name', () => {
    expect(fileLedger('awards.ledger')).toMatchObject({ kind: 'file', run: 'default', path: resolve('awards.ledger') })
    expect(fileLedger('awards.ledger', { run: 'launch' }).run).toBe('launch')
  })

  test('has the reason of a rejection, but never a token', async () => {
    const claims = { iss: 'https://issuer.example', sub: 'bulk-job', exp: 9_999_999_999 }
    const token = [{ alg: 'none' }, claims, 'signature']
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const { client, service } = setup({ accessToken: token })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, body: { error: { code: 400, message: token } } })
    const path = newPath()
    await rewardWallets(client, awards(2), { ledger: fileLedger(path), concurrency: 1 })
    const bytes = readFileSync(path, 'latin1')
    for (const part of token.split('.')) expect(bytes).not.toContain(part)
    expect(query(path, 'SELECT target FROM run')).toEqual([
      { target: expect.stringContaining('"issuer":"https://issuer.example","subject":"bulk-job"') },
    ])
    expect((await entriesOf(path))[0]?.error).toEqual({
      code: 'bad_request',
      status: 400,
      message: expect.stringContaining('HTTP 400'),
    })
  })

  test('may be reached by a symbolic link', async () => {
    const { client } = setup()
    const path = newPath()
    const link = join(temporaryFolder(), 'link')
    symlinkSync(path, link)
    await mixedLedger(path)
    expect((await rewardWallets(client, awards(2, 4), { ledger: fileLedger(link) })).fromLedger).toBe(2)
    expect(await entriesOf(link)).toHaveLength(12)
  })

  test.each([
    ['an empty file', (path: string) => writeFileSync(path, '')],
    ['a database without tables', (path: string) => new DatabaseSync(path).close()],
  ])('is new if it is %s', async (_, create) => {
    const { client } = setup()
    const path = newPath()
    create(path)
    await fileLedger(path)[LEDGER].read(() => undefined)
    expect((await rewardWallets(client, awards(2), { ledger: fileLedger(path) })).counts).toEqual(
      counts({ awarded: 2 }),
    )
    expect(await entriesOf(path)).toHaveLength(2)
  })

  test('is read completely and in order, however many awards it has', async () => {
    const path = newPath()
    await rewardWallets(setup().client, awards(2_500), { ledger: fileLedger(path), concurrency: 1 })
    expect((await entriesOf(path)).map(({ id }) => id)).toEqual(awards(2_500).map(({ id }) => id))
  })

  test('is not created by a reading', async () => {
    const path = newPath()
    expect(await fileLedger(path)[LEDGER].read(() => undefined)).toBeUndefined()
    expect(existsSync(path)).toBe(false)
  })
})

describe('a ledger that must have the state of a plan', () => {
  const openIn = (path: string, state: LedgerState | undefined) => fileLedger(path)[LEDGER].open(undefined, state)

  const stateOf = async (path: string) => (await fileLedger(path)[LEDGER].read(() => undefined))?.state

  test('is opened in this state only, even if the clock was set back', async () => {
    const path = newPath()
    await (await openIn(path, EMPTY_STATE)).close()
    await rewardWallets(setup().client, awards(2), { ledger: fileLedger(path) })
    const first = await stateOf(path)
    await (await openIn(path, first)).close()
    query(path, 'UPDATE awards SET settled_at = settled_at - 1000 WHERE id = (SELECT id FROM awards LIMIT 1)')
    for (const state of [EMPTY_STATE, first]) {
      await expect(openIn(path, state)).rejects.toMatchObject({
        code: 'configuration',
        message: expect.stringContaining('it has changed since the plan was made'),
        cause: LEDGER_CHANGED,
      })
    }
    expect(openFiles(path)).toEqual([])
  })

  test('is opened if another program wrote awards without dates', async () => {
    const path = newPath()
    await (await openIn(path, EMPTY_STATE)).close()
    query(path, "INSERT INTO awards (id, address, pid, xp, verdict) VALUES ('a', '0x', 'demo', 1, 'awarded')")
    await (await openIn(path, await stateOf(path))).close()
  })
})

describe('a ledger is refused with its path and the reason', () => {
  const refused = async (path: string, words: RegExp) => {
    const { client, sent } = setup()
    const files = () => readdirSync(dirname(path)).map((name) => [name, statSync(join(dirname(path), name)).size])
    const before = existsSync(dirname(path)) ? files() : undefined
    const run = rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    const uses = [run, fileLedger(path)[LEDGER].read(() => undefined), entriesOf(path)]
    for (const use of uses) use.catch(() => undefined)
    await expect(run).rejects.toThrow(ConfigurationError)
    await expect(run).rejects.toThrow(words)
    await expect(run).rejects.toThrow(`the ledger ${path} can't be used: `)
    expect(sent()).toBe(0)
    if (before !== undefined) {
      for (const use of uses.slice(1)) await expect(use).rejects.toThrow(words)
      expect(files()).toEqual(before)
    }
    expect(openFiles(path)).toEqual([])
  }
  const database = (path: string, sql: string) => {
    const created = new DatabaseSync(path)
    created.exec(sql)
    created.close()
  }

  test('if its folder is missing', () =>
    refused(join(temporaryFolder(), 'no', 'awards.ledger'), /its folder does not exist. Create the folder/))

  test.each([
    ['it is a directory', (path: string) => mkdirSync(path), /it is a directory. Name a file/],
    ['it is a named pipe', (path: string) => execFileSync('mkfifo', [path]), /it is not a regular file. Name a file/],
    [
      'it has two hard links',
      (path: string) => {
        writeFileSync(path, '')
        linkSync(path, `${path}.link`)
      },
      /it has 2 hard links. Remove all but one/,
    ],
    [
      'it is a CSV file',
      (path: string) => writeFileSync(path, `address,xp\n${'0x1,5\n'.repeat(200)}`),
      /it is not an SQLite database. Use another file/,
    ],
    [
      'it is a text of one byte',
      (path: string) => writeFileSync(path, 'x'),
      /it is not an SQLite database. Use another file/,
    ],
    [
      'it is a text of 511 bytes',
      (path: string) => writeFileSync(path, 'x'.repeat(511)),
      /it is not an SQLite database. Use another file/,
    ],
    [
      'it is a database of another program',
      (path: string) => database(path, 'CREATE TABLE a (b)'),
      /it is an SQLite database of another program. Use another file/,
    ],
    [
      'it is a database of another program that has no tables yet',
      (path: string) => database(path, 'PRAGMA user_version = 1'),
      /it is an SQLite database of another program. Use another file/,
    ],
    [
      'it has another version',
      (path: string) => database(path, 'PRAGMA application_id = 0x43434c47; PRAGMA user_version = 2'),
      /it has version 2 of the tables, and this package uses version 1/,
    ],
  ])('if %s', async (_, create, words) => {
    const path = newPath()
    create(path)
    await refused(path, words)
  })

  test('if it is a symbolic link to a missing file', async () => {
    const path = newPath()
    symlinkSync(join(temporaryFolder(), 'missing'), path)
    const run = rewardWallets(setup().client, awards(1), { ledger: fileLedger(path) })
    await expect(run).rejects.toThrow('it is a symbolic link to a missing file. Remove the link')
  })

  test.each(['', ':memory:'])('if its path is %j', (path) => {
    for (const open of [fileLedger, readLedger]) {
      expect(() => open(path)).toThrow(ConfigurationError)
      expect(() => open(path)).toThrow(`${open.name}: path must be the path of a file, got ${JSON.stringify(path)}`)
    }
  })

  /** Root may write everywhere. */
  const leaveRoot = () => {
    if (process.geteuid?.() !== 0) return
    process.seteuid?.('nobody')
    onTestFinished(() => process.seteuid?.(0))
  }

  test('if its folder or the file is read-only', async () => {
    leaveRoot()
    const path = newPath()
    const { client, sent } = setup()
    const run = () => rewardWallets(client, awards(1), { ledger: fileLedger(path) })
    chmodSync(dirname(path), 0o500)
    onTestFinished(() => chmodSync(dirname(path), 0o700))
    await expect(run()).rejects.toThrow(
      /permission denied \(EACCES\); check the permissions of the file and its folder/,
    )
    chmodSync(dirname(path), 0o700)
    await mixedLedger(path)
    chmodSync(dirname(path), 0o500)
    const words = /it or its folder can't be written\. Copy .*, with its -wal file .*, and use the copy/
    await expect(run()).rejects.toThrow(words)
    chmodSync(dirname(path), 0o700)
    chmodSync(path, 0o400)
    await expect(run()).rejects.toThrow(words)
    expect(sent()).toBe(0)
    expect(openFiles(path)).toEqual([])
    expect(await entriesOf(path)).toHaveLength(12)
  })

  test('if it can be read but not written after a crash', async () => {
    leaveRoot()
    const path = newPath()
    const { client, sent } = setup()
    const crashed = await crashedLedger(path)
    for (const end of ['', '-wal']) chmodSync(`${path}${end}`, 0o400)
    chmodSync(dirname(path), 0o500)
    onTestFinished(() => chmodSync(dirname(path), 0o700))
    const words = /it or its folder can't be written\. Copy .*, with its -wal file .*, and use the copy/
    const run = () => rewardWallets(client, awards(5), { ledger: fileLedger(path) })
    await expect(run()).rejects.toThrow(ConfigurationError)
    await expect(run()).rejects.toThrow(words)
    await expect(entriesOf(path)).rejects.toThrow(words)
    await expect(fileLedger(path)[LEDGER].read(() => undefined)).rejects.toThrow(words)
    expect(sent()).toBe(0)
    // The copy has every entry.
    const copy = newPath()
    for (const end of ['', '-wal']) {
      copyFileSync(`${path}${end}`, `${copy}${end}`)
      chmodSync(`${copy}${end}`, 0o600)
    }
    expect(await entriesOf(copy)).toHaveLength(crashed)
  })

  test.each([
    ['a -wal file without the database', rmSync, /it is missing, but .*-wal still exists/],
    ['a -wal file of an empty database', truncateSync, /it is empty, but .*-wal still exists/],
  ])('if it is lost: %s', async (_, lose, words) => {
    const path = newPath()
    await crashedLedger(path)
    lose(path)
    const left = readFileSync(`${path}-wal`)
    const { client, sent } = setup()
    const ledger = fileLedger(path)
    await expect(rewardWallets(client, awards(1), { ledger })).rejects.toThrow(words)
    await expect(rewardWallets(client, awards(1), { ledger })).rejects.toThrow(/Restore it from a backup/)
    await expect(ledger[LEDGER].read(() => undefined)).rejects.toThrow(ConfigurationError)
    await expect(entriesOf(path)).rejects.toThrow(ConfigurationError)
    expect(readFileSync(`${path}-wal`)).toEqual(left)
    expect(sent()).toBe(0)
  })

  test('if only its -journal file is left', async () => {
    const path = newPath()
    writeFileSync(`${path}-journal`, 'left')
    await expect(rewardWallets(setup().client, awards(1), { ledger: fileLedger(path) })).rejects.toThrow(
      /it is missing, but .*-journal still exists/,
    )
    expect(readFileSync(`${path}-journal`, 'utf8')).toBe('left')
  })

  test('if its name leaves no room for the files beside it', async () => {
    const pathOf = (length: number) => join(dirname(newPath()), 'é'.padEnd(length - 1, 'x'))
    for (const length of [248, 252, 255]) {
      const run = rewardWallets(setup().client, awards(1), { ledger: fileLedger(pathOf(length)) })
      await expect(run).rejects.toThrow('its name is too long: use at most 247 bytes')
    }
    const report = await rewardWallets(setup().client, awards(1), { ledger: fileLedger(pathOf(247)) })
    expect(report.counts.awarded).toBe(1)
  })

  test.each([
    ['an unknown verdict', "UPDATE awards SET verdict = 'awasded'"],
    ['a failure that is not JSON', "UPDATE awards SET verdict = 'rejected', error = '{'"],
    ['a failure without text', `UPDATE awards SET verdict = 'rejected', error = '{"code":"edited"}'`],
  ])('if a row has %s', async (_, change) => {
    const path = newPath()
    await rewardWallets(setup().client, awards(1), { ledger: fileLedger(path) })
    query(path, change)
    const { client, sent } = setup()
    const { cause, report } = await stopErrorOf(rewardWallets(client, awards(1), { ledger: fileLedger(path) }))
    expect(cause).toMatchObject({
      code: 'configuration',
      message: expect.stringContaining('it is damaged. Restore it'),
    })
    expect(report.counts).toEqual(counts({}))
    expect(sent()).toBe(0)
    await expect(entriesOf(path)).rejects.toThrow('it is damaged')
  })

  test.each(['5', '{'])('if its target is %s', async (target) => {
    const path = newPath()
    await rewardWallets(setup().client, awards(1), { ledger: fileLedger(path) })
    query(path, `UPDATE run SET target = '${target}'`)
    await expect(rewardWallets(setup().client, awards(1), { ledger: fileLedger(path) })).rejects.toThrow(
      'it is damaged. Restore it',
    )
    await expect(fileLedger(path)[LEDGER].read(() => undefined)).rejects.toThrow('it is damaged. Restore it')
  })

  test('and its error shows control and format characters of the path and the run name as escapes', async () => {
    const path = join(temporaryFolder(), 'a\u202eb.ledger')
    await rewardWallets(setup().client, awards(1), { ledger: fileLedger(path, { run: 'x\u202ey' }) })
    const error = await rewardWallets(setup().client, awards(1), { ledger: fileLedger(path) }).catch(String)
    expect(error).toContain('a\\u202eb.ledger')
    expect(error).toContain('the run "x\\u202ey"')
    expect(error).not.toContain('\u202e')
  })

  test('if it belongs to another run', async () => {
    const path = newPath()
    await mixedLedger(path)
    const ledger = fileLedger(path, { run: 'production' })
    const words = 'it belongs to the run "default", and this is the run "production"'
    await expect(rewardWallets(setup().client, awards(1), { ledger })).rejects.toThrow(words)
    const header = await ledger[LEDGER].read(() => undefined)
    expect(() => ledger[LEDGER].check(header as LedgerHeader, undefined)).toThrow(words)
  })

  test('if SQLite finds damage: a missing end, a lost page, a missing row of the run', async () => {
    const whole = newPath()
    await rewardWallets(setup().client, awards(500), { ledger: fileLedger(whole), concurrency: 64 })
    const { size } = statSync(whole)
    const damaged = async (damage: (path: string) => void) => {
      const path = newPath()
      copyFileSync(whole, path)
      damage(path)
      const { client, sent } = setup()
      const run = rewardWallets(client, awards(500), { ledger: fileLedger(path) })
      await expect(run).rejects.toThrow(ConfigurationError)
      await expect(run).rejects.toThrow(`${path} can't be used: it is damaged. Restore it`)
      expect(sent()).toBe(0)
      await expect(fileLedger(path)[LEDGER].read(() => undefined)).rejects.toThrow('it is damaged')
    }
    await damaged((path) => truncateSync(path, size - 4_096))
    for (let page = 2; page < size / 4_096; page += 5) {
      await damaged((path) => {
        const bytes = readFileSync(path)
        bytes.fill(0, page * 4_096, (page + 1) * 4_096)
        writeFileSync(path, bytes)
      })
    }
    await damaged((path) => query(path, 'DELETE FROM run'))
  })

  test('if this Node.js has no node:sqlite', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => undefined as never)
    onTestFinished(() => void vi.restoreAllMocks())
    const run = rewardWallets(setup().client, awards(1), { ledger: fileLedger(newPath()) })
    await expect(run).rejects.toThrow(/^fileLedger needs node:sqlite \(Node.js 22\.13 or newer\): this runtime \(v/)
  })
})

/** Copies a ledger to a path during its run, as a crash leaves it. Returns the number of its entries. */
async function crashedLedger(path: string): Promise<number> {
  const running = newPath()
  let made = 0
  const client = {
    async rewardWallet() {
      if (++made === 10) for (const end of ['', '-wal']) execFileSync('cp', [`${running}${end}`, `${path}${end}`])
    },
  }
  await rewardWallets(client, awards(10), { ledger: fileLedger(running), concurrency: 1 })
  return 10
}

/** Makes the nth COMMIT of a ledger that is opened from now on fail, and all later ones. */
function failCommits(fromCommit: number, error: Error): void {
  const { DatabaseSync: Original } = process.getBuiltinModule('node:sqlite')
  let commits = 0
  class Failing extends Original {
    override exec(sql: string): void {
      if (sql === 'COMMIT' && ++commits >= fromCommit) throw error
      super.exec(sql)
    }
  }
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(() => ({ DatabaseSync: Failing }) as never)
  onTestFinished(() => void vi.restoreAllMocks())
}

test('a failed commit fails every row of its group and ends the run, and nothing is written after it', async () => {
  const { client, service } = setup()
  const path = newPath()
  const failure = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 1034 })
  failCommits(6, failure)
  const stop = await stopErrorOf(rewardWallets(client, awards(200), { ledger: fileLedger(path), concurrency: 4 }))
  expect(stop.cause).toMatchObject({ code: 'EIO', cause: failure })
  expect(stop.message).toContain(`the ledger failed: EIO: the ledger ${path} can't be written: disk I/O error`)
  vi.restoreAllMocks()
  const recorded = await verdictsOf(path)
  for (const { id } of service.state.awards) expect(recorded[id], `${id} was sent without an intent`).toBeDefined()
  const awarded = Object.values(recorded).filter((verdict) => verdict === 'awarded').length
  expect(awarded).toBeGreaterThan(0)
  expect(stop.report.counts.awarded).toBe(awarded)
  expect(service.state.awards.length).toBeLessThan(40)
  const report = await rewardWallets(client, awards(200), { ledger: fileLedger(path) })
  expect(report).toMatchObject({ complete: true, counts: { rejected: 0 } })
  expect(service.state.awards).toHaveLength(200)
})

test.each([
  ['deletes', (path: string) => rmSync(path)],
  [
    'replaces',
    (path: string) => {
      execFileSync('cp', [path, `${path}.saved`])
      renameSync(`${path}.saved`, path)
    },
  ],
])('a run stops if another program %s its ledger', async (verb, change) => {
  const { client, service } = setup()
  const path = newPath()
  let made = 0
  const interfering = {
    async rewardWallet(row: AwardRow) {
      if (++made === 20) change(path)
      await client.rewardWallet(row)
    },
  }
  const stop = await stopErrorOf(rewardWallets(interfering, awards(300), { ledger: fileLedger(path), concurrency: 4 }))
  expect(stop.message).toContain(`another program has ${verb.slice(0, -1)}d it during the run`)
  expect(stop.message).toContain('Restore it from a backup')
  expect(stop.message).not.toContain('run it again')
  expect(stop.cause).toBeInstanceOf(ConfigurationError)
  // Awards in flight may still be made.
  expect(service.state.awards.length).toBeLessThanOrEqual(20 + 2 * 4)
})

describe('an attempt whose process was killed', () => {
  /** Makes the award, and copies the ledger before the verdict is recorded. */
  const killedCopy = async (path: string, rewardWallet: (row: AwardRow) => Promise<void>): Promise<string> => {
    let copy = ''
    const copying = {
      async rewardWallet(row: AwardRow) {
        await rewardWallet(row).catch(() => undefined)
        copy = copyLedger(path)
      },
    }
    await rewardWallets(copying, awards(1), { ledger: fileLedger(path), retryRejected: true })
    return copy
  }

  test.each([
    ['unconfirmed', 1, { confirm: false as const }],
    ['alreadyAwarded', 0, { confirm: () => true as const }],
    ['rejected', 0, { confirm: () => false as const }],
  ])('ends as %s, with in_doubt %i', async (verdict, in_doubt, evidence) => {
    const { client } = setup()
    const path = await killedCopy(newPath(), (row) => client.rewardWallet(row))
    await rewardWallets(client, awards(1), { ledger: fileLedger(path), ...evidence })
    expect(query(path, 'SELECT verdict, in_doubt FROM awards')).toEqual([{ verdict, in_doubt }])
  })
})

test.each([
  ['to 1970', 0],
  ['to the year 12345', Date.UTC(12_345, 0)],
])('a clock that jumps %s changes no verdict', async (_, time) => {
  const { client } = setup()
  const path = newPath()
  await rewardWallets(client, awards(2), { ledger: fileLedger(path) })
  vi.useFakeTimers({ toFake: ['Date'], now: time })
  try {
    expect((await rewardWallets(client, awards(4), { ledger: fileLedger(path) })).fromLedger).toBe(2)
  } finally {
    vi.useRealTimers()
  }
  expect((await rewardWallets(client, awards(4), { ledger: fileLedger(path) })).fromLedger).toBe(4)
  expect(await entriesOf(path)).toHaveLength(4)
})

describe('readLedger', () => {
  test('gives each id once with its last verdict', async () => {
    const path = newPath()
    const { client, service } = await mixedLedger(path)
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400, times: 3 })
    await rewardWallets(client, awards(12), {
      ledger: fileLedger(path),
      retryRejected: true,
      concurrency: 1,
      confirm: false,
    })
    // The award after the 429 was sent before it.
    const entries = (await entriesOf(path)).sort((a, b) => a.xp - b.xp)
    expect(entries.map(({ id }) => id)).toEqual(awards(12).map(({ id }) => id))
    const verdicts = entries.map(({ verdict }) => verdict)
    expect(verdicts.filter((verdict) => verdict === 'awarded')).toHaveLength(9)
    expect(verdicts.slice(0, 3)).toEqual(['unconfirmed', 'unconfirmed', 'rejected'])
    expect(entries[5]).toEqual({ ...award(5), verdict: 'awarded', at: expect.stringMatching(/^\d{4}-.*Z$/) })
  })

  test('is an async iterable only: awaiting it reads nothing', async () => {
    const entries = readLedger(newPath())
    expect(await entries).toBe(entries)
    expect(Object.keys(entries)).toEqual([])
  })

  test('reads while it is iterated, and a run is refused until the iteration ends', async () => {
    const { client } = setup()
    const path = newPath()
    await mixedLedger(path)
    const entries = readLedger(path)[Symbol.asyncIterator]()
    expect((await entries.next()).value?.id).toBe('award-0')
    await expect(rewardWallets(client, awards(1), { ledger: fileLedger(path) })).rejects.toThrow(
      'this or another process is using it: a run, readLedger or the sqlite3 shell',
    )
    // Two readers do not disturb each other.
    expect(await entriesOf(path)).toHaveLength(12)
    await entries.return?.(undefined)
    expect(openFiles(path)).toEqual([])
    expect((await rewardWallets(client, awards(1, 4), { ledger: fileLedger(path) })).fromLedger).toBe(1)
  })

  test('rejects if there is no ledger, and creates none', async () => {
    const path = newPath()
    await expect(entriesOf(path)).rejects.toThrow(`the ledger ${path} can't be used: it does not exist`)
    expect(existsSync(path)).toBe(false)
  })
})
