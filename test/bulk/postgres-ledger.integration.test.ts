import { randomUUID } from 'node:crypto'
import { ConfigurationError } from 'campaign-client'
import { AwardUnsettledError, awardOne, rewardWallets } from 'campaign-client/bulk'
import { type PgPool, postgresLedger, postgresLedgerSchema } from 'campaign-client/bulk/postgres'
import type { PgClient } from 'campaign-client/webhook/postgres'
import { Pool, type PoolClient, types } from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Database } from '../databases/database.ts'
import { postgres } from '../databases/postgres.ts'
import { FULL_SIZE } from '../support/full-size.ts'
import { skipPauses } from '../support/skip-pauses.ts'
import { skipsWithout } from '../support/skips-without.ts'
import { startStallingProxy } from '../support/stalling-proxy.ts'
import { award, awards, counts, holdCalls, setup, stopErrorOf } from './fixtures.ts'

const NUMBERS: ReadonlySet<number> = new Set([types.builtins.INT4, types.builtins.INT8, types.builtins.FLOAT8])

/** The rows of a list that two runs share. */
const SHARED_ROWS = FULL_SIZE ? 200 : 60

/** Returns the error of an award without a verdict. */
async function unsettled(run: Promise<unknown>): Promise<AwardUnsettledError> {
  const error: unknown = await run.then(
    (verdict) => expect.unreachable(`the award was settled: ${verdict}`),
    (reason: unknown) => reason,
  )
  if (!(error instanceof AwardUnsettledError)) throw error
  return error
}

describe.skipIf(skipsWithout('PostgreSQL', postgres.missing))('the ledger in PostgreSQL', () => {
  let server: Database
  let pool: Pool
  let sql: ReturnType<typeof postgresJs>
  const table = `awards_${randomUUID().replaceAll('-', '')}`

  beforeAll(async () => {
    server = await postgres.start()
    pool = new Pool({ connectionString: server.url, max: 8 })
    pool.on('error', () => undefined)
    sql = postgresJs(server.url, { max: 4, prepare: false, onnotice: () => undefined })
    await Promise.all([1, 2, 3].map(() => pool.query(postgresLedgerSchema(table))))
    await sql.unsafe(postgresLedgerSchema(table))
  })
  afterAll(async () => {
    await pool?.query(`DROP TABLE IF EXISTS ${table}, ${table}_runs`)
    await pool?.end()
    await sql?.end()
    await server?.stop()
  })

  /** Returns the pool with `before` called before each statement. If `before` rejects, the statement is not sent. */
  const poolWith = (before: (text: string) => unknown): PgPool => ({
    query: pool.query.bind(pool),
    connect: (callback) =>
      pool.connect((error, client, release) => {
        const query: PgClient['query'] = async (text, values) => {
          await before(text)
          return (client as PoolClient).query(text, values)
        }
        callback(error, client && { query }, release)
      }),
  })
  const newRun = (leaseMs = 30_000, run: string = randomUUID()) => postgresLedger(pool, { run, table, leaseMs })
  /** A part of the statement that extends a lease. */
  const EXTEND = 'SET lease_until = clock_timestamp()'
  const DELETE_AWARD = `DELETE FROM ${table} WHERE run = $1`
  const RELEASE_AWARD = `UPDATE ${table} SET attempt = NULL, lease_until = NULL WHERE run = $1`

  test('a run does not see the awards of another run', async () => {
    const { client } = setup()
    await rewardWallets(client, awards(3), { ledger: newRun() })
    expect((await rewardWallets(client, awards(3), { ledger: newRun() })).usedBefore.awards).toBe(3)
  })

  test('a run of another version is refused', async () => {
    const { client, sent } = setup()
    const ledger = newRun()
    await pool.query(`INSERT INTO ${table}_runs (run, version) VALUES ($1, 2)`, [ledger.run])
    const run = rewardWallets(client, awards(1), { ledger })
    await expect(run).rejects.toThrow(ConfigurationError)
    await expect(run).rejects.toThrow(/it has version 2, and this package uses version 1/)
    expect(sent()).toBe(0)
  })

  test.each(['40P01', '40001'])('a statement that PostgreSQL rolled back with %s is retried', async (code) => {
    const { client } = setup()
    vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => void vi.restoreAllMocks())
    const failure = Object.assign(new Error('rolled back'), { code })
    let failures = 9
    const flaky = poolWith(() => {
      if (failures-- > 0) throw failure
    })
    expect(await awardOne(client, award(1), { ledger: postgresLedger(flaky, { run: randomUUID(), table }) })).toBe(
      'awarded',
    )
    failures = 10
    const ledger = postgresLedger(flaky, { run: randomUUID(), table })
    await expect(awardOne(client, award(2), { ledger })).rejects.toBe(failure)
    expect(failures).toBe(0)
  })

  test('missing tables are an error', async () => {
    const { client } = setup()
    const ledger = postgresLedger(pool, { run: 'x', table: 'not_there' })
    await expect(rewardWallets(client, awards(1), { ledger })).rejects.toMatchObject({
      message: expect.stringMatching(
        /its tables "not_there" and "not_there_runs" .* postgresLedgerSchema\('not_there'\)/,
      ),
      cause: { code: '42P01' },
    })
  })

  test('tables with other columns are an error', async () => {
    const { client, sent } = setup()
    const other = `${table}_other`
    await pool.query(`CREATE TABLE ${other} (run text, id int)`)
    onTestFinished(async () => void (await pool.query(`DROP TABLE ${other}, ${other}_runs`)))
    await pool.query(postgresLedgerSchema(other))
    const ledger = postgresLedger(pool, { run: 'x', table: other })
    const { cause } = await stopErrorOf(rewardWallets(client, awards(1), { ledger }))
    expect(cause).toBeInstanceOf(ConfigurationError)
    await expect(awardOne(client, award(0), { ledger })).rejects.toThrow(/or have other columns.*column "id_hash"/)
    expect(sent()).toBe(0)
  })

  test('the longest table name leaves room for the suffix of the second table', async () => {
    const { client } = setup()
    const longest = table.padEnd(58, 'x')
    await pool.query(postgresLedgerSchema(longest))
    onTestFinished(async () => void (await pool.query(`DROP TABLE ${longest}, ${longest}_runs`)))
    const ledger = postgresLedger(pool, { run: 'x', table: longest })
    expect((await rewardWallets(client, awards(1), { ledger })).counts).toEqual(counts({ awarded: 1 }))
  })

  test('a pool that rounds numbers or reads them as text finds the same XP', async () => {
    const { client } = setup()
    const run = randomUUID()
    const rows = [0.1 + 0.2, 5e-324, Number.MAX_VALUE, 7].map((xp, number) => award(number, { xp }))
    // PostgreSQL 11 rounds numbers; a pool may read them as text.
    const rounding = new Pool({ connectionString: server.url, options: '-c extra_float_digits=0' })
    const getTypeParser = (oid: number) => (NUMBERS.has(oid) ? String : types.getTypeParser(oid))
    const asText = new Pool({ connectionString: server.url, types: { getTypeParser } as never })
    onTestFinished(async () => void (await Promise.all([rounding.end(), asText.end()])))
    await rewardWallets(client, rows, { ledger: postgresLedger(pool, { run, table }) })
    for (const otherPool of [rounding, asText]) {
      const report = await rewardWallets(client, rows, { ledger: postgresLedger(otherPool, { run, table }) })
      expect(report).toMatchObject({ counts: counts({ awarded: 4 }), fromLedger: 4 })
    }
  })

  test.each(['repeatable read', 'serializable'])('two runs share a list with the isolation level %s', async (level) => {
    const { client, service } = setup()
    const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`
    const strict = new Pool({ connectionString: server.url, options, max: 8 })
    onTestFinished(async () => void (await strict.end()))
    const run = randomUUID()
    const reports = await Promise.all(
      [1, 2].map(() => rewardWallets(client, awards(SHARED_ROWS), { ledger: postgresLedger(strict, { run, table }) })),
    )
    for (const report of reports) {
      expect(report).toMatchObject({ counts: counts({ awarded: SHARED_ROWS }), complete: true })
    }
    expect(service.state.awards).toHaveLength(SHARED_ROWS)
  })

  test('a client that renames columns or converts types finds the same awards', async () => {
    const { client, service } = setup()
    const run = randomUUID()
    const other = { max: 2, prepare: false, fetch_types: false, onnotice: () => undefined }
    const camel = postgresJs(server.url, { ...other, transform: postgresJs.camel })
    const pascal = postgresJs(server.url, {
      ...other,
      transform: { ...postgresJs.toPascal, column: { to: (name: string) => `x_${name}` } } as never,
    })
    const converted = { ...types, getTypeParser: (oid: number) => (oid === types.builtins.TEXT ? String : () => 'f') }
    const parsing = new Pool({ connectionString: server.url, types: converted as never })
    onTestFinished(async () => void (await Promise.all([camel.end(), pascal.end(), parsing.end()])))
    service.fail({ on: 'rewardWallet', kind: 'status', status: 400 })
    await rewardWallets(client, awards(3), { ledger: postgresLedger(camel, { run, table }), concurrency: 1 })
    for (const database of [camel, pascal, parsing]) {
      const report = await rewardWallets(client, awards(3), { ledger: postgresLedger(database, { run, table }) })
      expect(report).toMatchObject({ counts: counts({ awarded: 2, rejected: 1 }), fromLedger: 3 })
      expect(report.problems).toMatchObject([{ code: 'bad_request' }])
    }
  })

  test('a client that changes texts is refused with the reason', async () => {
    const { client, sent } = setup()
    const upper = { ...types, getTypeParser: () => (text: string) => text.toUpperCase() }
    const parsing = new Pool({ connectionString: server.url, types: upper as never })
    onTestFinished(() => parsing.end())
    const run = rewardWallets(client, awards(1), { ledger: postgresLedger(parsing, { run: randomUUID(), table }) })
    await expect(run).rejects.toThrow(ConfigurationError)
    await expect(run).rejects.toThrow("postgresLedger can't read rows: pass a Pool of")
    expect(sent()).toBe(0)
  })

  test('an unreachable database stops the run before it sends anything', async () => {
    const { client, sent } = setup()
    const lost = new Pool({ connectionString: 'postgres://nobody@127.0.0.1:1/x' })
    const ledger = postgresLedger(lost, { run: 'x', table })
    expect((await stopErrorOf(rewardWallets(client, awards(1), { ledger }))).cause).toMatchObject({
      code: 'ECONNREFUSED',
    })
    expect(sent()).toBe(0)
  })

  test('a connection that becomes silent stops the run after 30 s, and the next run uses the same pool', async () => {
    const proxy = await startStallingProxy(server.url)
    onTestFinished(() => proxy.close())
    const onePool = new Pool({ connectionString: proxy.url, max: 1, idleTimeoutMillis: 0 })
    onePool.on('error', () => undefined)
    onTestFinished(() => onePool.end())
    const ledger = postgresLedger(onePool, { run: randomUUID(), table })
    const { client } = setup()
    await rewardWallets(client, awards(3), { ledger })

    proxy.silence()
    const elapsed = skipPauses()
    const { message } = await stopErrorOf(rewardWallets(client, awards(5), { ledger }))
    expect(message).toContain('postgresLedger: PostgreSQL did not respond within 30000 ms')
    expect(elapsed()).toBe(30_000)
    vi.useRealTimers()
    expect((await rewardWallets(client, awards(5), { ledger })).counts).toEqual(counts({ awarded: 5 }))
  })

  describe('awardOne', () => {
    test.each([
      ['applied_then_reset', { kind: 'applied_then_reset' }, 'indeterminate', 'alreadyAwarded'],
      ['503', { kind: 'status', status: 503 }, 'indeterminate', 'awarded'],
      ['429', { kind: 'status', status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', 'awarded'],
      ['403', { kind: 'status', status: 403 }, 'refused_for_now', 'awarded'],
    ] as const)('%s leaves the award unsettled until a retry', async (_, fault, reason, verdict) => {
      const { client, service } = setup()
      const ledger = newRun()
      service.fail({ on: 'rewardWallet', ...fault })
      const error = await unsettled(awardOne(client, award(1), { ledger }))
      expect(error).toMatchObject({ reason, code: 'award_unsettled', operation: 'awardOne' })
      expect(error.cause).toBeInstanceOf(Error)
      if (reason === 'rate_limited') expect(error.retryAfterMs).toBe(7_000)
      // Another process, whose client has not received the 429.
      const { client: another } = setup({ fetch: service.fetch })
      expect(await awardOne(another, award(1), { ledger })).toBe(verdict)
    })

    test('a second call is busy while the first call is in flight', async () => {
      const { client } = setup()
      const ledger = newRun()
      const slow = holdCalls(client)
      const first = awardOne(slow, award(1), { ledger })
      await expect.poll(() => slow.waiting).toHaveLength(1)
      const second = await unsettled(awardOne(client, award(1), { ledger }))
      expect(second.reason).toBe('busy')
      expect(second.retryAfterMs).toBe(5_000)
      slow.waiting[0]?.()
      expect(await first).toBe('awarded')
    })

    test('a call keeps its claim even if an extension of its lease fails', async () => {
      const { client } = setup()
      let extensions = 0
      const failing = poolWith((text) => {
        if (text.includes(EXTEND) && ++extensions === 1) throw new Error('the connection was reset')
      })
      const ledger = postgresLedger(failing, { run: randomUUID(), table, leaseMs: 3_000 })
      const slow = holdCalls(client)
      const first = awardOne(slow, award(1), { ledger })
      // Four thirds of the lease time.
      await expect.poll(() => extensions).toBe(4)
      expect((await unsettled(awardOne(client, award(1), { ledger }))).reason).toBe('busy')
      slow.waiting[0]?.()
      expect(await first).toBe('awarded')
    })

    /** A ledger with a short lease, that counts the extensions. */
    const countingLedger = () => {
      const counted = { extensions: 0 }
      const counting = poolWith((text) => {
        if (text.includes(EXTEND)) counted.extensions++
      })
      return { counted, ledger: postgresLedger(counting, { run: randomUUID(), table, leaseMs: 60 }) }
    }

    test.each([
      ['succeeds', undefined],
      ['is refused with 401', { kind: 'status', status: 401 }],
      ['ends with an unknown outcome', { kind: 'reset' }],
    ] as const)('a call that %s no longer extends its lease', async (_, fault) => {
      const { client, service } = setup()
      const { ledger, counted } = countingLedger()
      const other = countingLedger()
      if (fault) service.fail({ on: 'rewardWallet', ...fault })
      const slow = holdCalls(client)
      const made = awardOne(slow, award(1), { ledger }).catch((error: unknown) => error)
      await expect.poll(() => counted.extensions).toBeGreaterThan(1)
      slow.waiting[0]?.()
      await made
      const before = counted.extensions
      // Meanwhile, another call extends its lease.
      const held = awardOne(slow, award(2), { ledger: other.ledger })
      await expect.poll(() => other.counted.extensions).toBeGreaterThan(3)
      // One extension may have been under way.
      expect(counted.extensions - before).toBeLessThanOrEqual(1)
      slow.waiting[1]?.()
      await held
    })

    test.each([
      ['deletes', DELETE_AWARD],
      ['releases', RELEASE_AWARD],
    ])('makes the award if another program %s it between two statements', async (_, change) => {
      const { client } = setup()
      const run = randomUUID()
      const late = holdCalls(client)
      const first = awardOne(late, award(1), { ledger: newRun(30_000, run) })
      await expect.poll(() => late.waiting).toHaveLength(1)
      let hasChanged = false
      const changing = poolWith(async (text) => {
        if (!text.startsWith('SELECT award.') || hasChanged) return
        hasChanged = true
        await pool.query(change, [run])
      })
      const made = () => awardOne(client, award(1), { ledger: postgresLedger(changing, { run, table }) })
      // The next statement may still see the claim.
      const second = await made().catch((error: unknown) => {
        expect(error).toMatchObject({ reason: 'busy' })
        return made()
      })
      expect(second).toBe('awarded')
      late.waiting[0]?.()
      expect(await first).toBe('awarded')
    })

    test('only the call that holds the claim extends the lease', async () => {
      const { client } = setup()
      const { counted, ledger } = countingLedger()
      const slow = holdCalls(client)
      const late = awardOne(slow, award(1), { ledger })
      await expect.poll(() => slow.waiting).toHaveLength(1)
      const takeOver = `UPDATE ${table} SET attempt = $2, lease_until = '2100-01-01' WHERE run = $1`
      await pool.query(takeOver, [ledger.run, randomUUID()])
      const before = counted.extensions
      await expect.poll(() => counted.extensions).toBeGreaterThan(before + 2)
      const { rows } = await pool.query(`SELECT lease_until FROM ${table} WHERE run = $1`, [ledger.run])
      expect(rows[0].lease_until.getUTCFullYear()).toBeGreaterThan(2090)
      slow.waiting[0]?.()
      await late
    })

    test('the next job retries a failed comparison of targets', async () => {
      const { client } = setup()
      const failure = Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' })
      let failing = true
      const flaky = poolWith(() => {
        if (failing) throw failure
      })
      const ledger = postgresLedger(flaky, { run: randomUUID(), table })
      await expect(awardOne(client, award(1), { ledger })).rejects.toThrow(failure)
      failing = false
      expect(await awardOne(client, award(1), { ledger })).toBe('awarded')
    })
  })
})

describe('an invalid argument of postgresLedger is refused', () => {
  const pool = { query: async () => ({ rows: [] }), connect: async () => undefined }
  test.each([
    ['an undefined database', undefined, { run: 'x' }, /database must be a Pool/],
    ['a single client', { ...pool, escapeIdentifier: () => '' }, { run: 'x' }, /not a single client/],
    [
      'the sql of a transaction',
      Object.assign(() => undefined, { unsafe: () => undefined }),
      { run: 'x' },
      /or a transaction/,
    ],
    [
      'a sql that prepares statements',
      Object.assign(() => undefined, { unsafe: () => undefined, begin: () => undefined, options: { prepare: true } }),
      { run: 'x' },
      /made with prepare: false. With prepared statements, .* can lose a COMMIT/,
    ],
    ['an object like a sql', { unsafe: pool.query, begin: pool.query }, { run: 'x' }, /database must be a Pool/],
    ['an object that can only query', { query: pool.query }, { run: 'x' }, /database must be a Pool/],
    ['an object that can only connect', { connect: pool.connect }, { run: 'x' }, /database must be a Pool/],
    ['a missing run', pool, {}, /run must be a non-empty string/],
    [
      'a run name that is too long for an index',
      pool,
      { run: '😀'.repeat(251) },
      /run must have at most 500 characters/,
    ],
    [
      'a table name that is too long for the suffix',
      pool,
      { run: 'x', table: 'a'.repeat(59) },
      /at most 58 characters/,
    ],
    ['a table with a quote', pool, { run: 'x', table: 'a"b' }, /table must be a name/],
    ['a lease of 0 ms', pool, { run: 'x', leaseMs: 0 }, /leaseMs must be/],
  ])('%s', (_, database, options, words) => {
    expect(() => postgresLedger(database as never, options as never)).toThrow(ConfigurationError)
    expect(() => postgresLedger(database as never, options as never)).toThrow(words)
    expect(() => postgresLedger(database as never, options as never)).toThrow(/^postgresLedger: /)
  })

  test('a malformed table name in postgresLedgerSchema', () => {
    expect(() => postgresLedgerSchema('a b')).toThrow(ConfigurationError)
    expect(() => postgresLedgerSchema('a'.repeat(59))).toThrow(/at most 58 characters/)
  })
})
