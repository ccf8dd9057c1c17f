import { ConfigurationError } from 'campaign-client'
import { type PgClient, type PgPool, type PostgresStore, postgresStore } from 'campaign-client/webhook/postgres'
import { describe, expect, type Mock, onTestFinished, test, vi } from 'vitest'
import { fakePool } from '../../databases/fake-pool.ts'

describe('claim, when the delivery is released between INSERT and SELECT', () => {
  /** Claims a delivery. The first `misses` attempts return no row. */
  async function claimAfter(misses: number) {
    let claims = 0
    const pool = fakePool((text) => {
      if (text.startsWith('SELECT')) return []
      if (++claims > 3) throw new Error('too many claims')
      return claims > misses ? [{}] : []
    })
    return { result: await postgresStore(pool).claim('key', 1000), claims: () => claims }
  }

  test.each([0, 1, 2])('succeeds after retries: %i', async (misses) => {
    const { result, claims } = await claimAfter(misses)
    expect(result).toEqual({ state: 'claimed', token: expect.any(String) })
    expect(claims()).toBe(misses + 1)
  })

  test('rejects after three attempts', async () => {
    await expect(claimAfter(Infinity)).rejects.toThrow(
      /the database did not store the record, .* drops inserts: remove it$/,
    )
  })
})

test('a claim without space for its message is made without the message', async () => {
  const full = Object.assign(new Error('could not extend file'), { code: '53100' })
  const pool = fakePool((text) => {
    if (text.includes('decode(')) throw full
    return [{}]
  })
  const message = { endpoint: 'campaign', rawBody: new Uint8Array(1), retainMs: 1000 }
  const claim = await postgresStore(pool).claim('key', 1000, message)
  expect(claim).toEqual({ state: 'claimed', token: expect.any(String), notKept: full })
})

describe('the check that the transaction is still open', () => {
  const runOnce = (readRows: () => unknown[]): Promise<unknown> =>
    postgresStore(fakePool((text) => (text.includes('xmin') ? readRows() : [{}]))).runOnce('key', () => 1)

  test.each([[new Error('Connection terminated')], [{ code: '57P01' }], ['gone'], [undefined]])(
    'throws the error of its query (%j)',
    async (failure) => {
      const outcome = await runOnce(() => {
        throw failure
      }).catch((reason: unknown) => ({ reason }))
      expect(outcome).toEqual({ reason: failure })
    },
  )

  test('throws an error with the cause, when the function ignored a failed query', async () => {
    const refused = Object.assign(new Error('current transaction is aborted'), { code: '25P02' })
    const run = runOnce(() => {
      throw refused
    })
    await expect(run).rejects.toThrow('runOnce committed nothing: its function ignored a failed query')
    await expect(run).rejects.toMatchObject({ cause: refused })
  })

  test('throws an error with a fix, when the function ended the transaction', async () => {
    await expect(runOnce(() => [])).rejects.toThrow(
      /^the function of runOnce committed or rolled back, .* Throw to roll back, return to commit$/,
    )
  })
})

/** Expects that a store refuses its client at each call, after one question. @param asked - the function that is asked */
async function expectRefused(store: PostgresStore<unknown>, asked: Mock): Promise<void> {
  const calls = [() => store.claim('key', 1000), () => store.runOnce('key', () => expect.unreachable())]
  for (const [index, call] of [...calls, ...calls].entries()) {
    const error = await call().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConfigurationError)
    expect(String(error)).toMatch(
      /postgresStore can't read rows: pass a Pool of "pg" or the sql of "postgres", without a transform .* that changes texts/,
    )
    expect(asked).toHaveBeenCalledTimes(index + 1)
  }
}

describe('a client that changes rows', () => {
  const poolOf = (query: () => unknown) =>
    ({ query, connect: (callback: (...args: unknown[]) => void) => callback(undefined, { query }, () => {}) }) as PgPool

  test.each<[string, unknown]>([
    ['upper-case texts', { rows: [{ unchanged: 'TEXT', missing: null }] }],
    ['another value for NULL', { rows: [{ unchanged: 'Text', missing: '' }] }],
    ['a missing column', { rows: [{ unchanged: 'Text' }] }],
    ['no columns', { rows: [{}] }],
    ['null instead of a row', { rows: [null] }],
    ['no row', { rows: [] }],
    ['a second row', { rows: [{ unchanged: 'Text', missing: null }, {}] }],
    ['no rows (recordset of mssql 12)', { recordset: [{ unchanged: 'Text', missing: null }] }],
    ['a list (mysql2/promise 3)', [[{ unchanged: 'Text', missing: null }], []]],
    ['nothing (callbacks)', undefined],
  ])('is refused before the first statement if it returns %s', async (_, result) => {
    const query = vi.fn(() => (result === undefined ? undefined : Promise.resolve(result)))
    await expectRefused(postgresStore(poolOf(query)), query)
  })

  test('is refused if it is a sql that does not resolve to a list', async () => {
    const unsafe = vi.fn(async () => ({ rows: [] }))
    const sql = Object.assign(() => undefined, { unsafe, begin: expect.unreachable, options: { prepare: false } })
    await expectRefused(postgresStore(sql as never), unsafe)
  })
})

describe('a pool of another package', () => {
  const never = () => expect.unreachable()
  test.each<[string, string, object]>([
    // pg-promise 12: `connect()` ignores a callback, and `query` resolves to the rows.
    ['the db of pg-promise', 'the db of "pg-promise": pass its db.$pool', { $pool: fakePool(() => []), tx: never }],
    // slonik 49: `connect` calls its argument with a connection.
    ['slonik', 'a pool of "slonik"', { maybeOne: never, maybeOneFirst: never, transaction: never }],
    // mssql 12: `connect` passes the pool to its callback.
    ['mssql', 'a pool of "mssql"', { request: never, batch: never, transaction: never }],
  ])('is refused when the store is created: %s', (_, got, members) => {
    const pool = { query: never, connect: never, ...members } as PgPool
    expect(() => postgresStore(pool)).toThrow(ConfigurationError)
    expect(() => postgresStore(pool)).toThrow(`must be a Pool of "pg" or the sql of "postgres", not a single client or`)
    expect(() => postgresStore(pool)).toThrow(`; got ${got}`)
  })

  test('is refused if it returns a promise of a connection, which is released', async () => {
    const release = vi.fn()
    await expectRefused(
      postgresStore({ query: never, connect: async () => ({ query: never, release }) } as never),
      release,
    )
  })

  test.each<[string, unknown[]]>([
    ['nothing', []],
    ['itself', [null, { query: never }]],
    ['a connection without query', [null, {}, never]],
  ])('is refused if its connect passes %s to the callback', async (_, args) => {
    const connect = vi.fn((callback) => callback(...args))
    await expectRefused(postgresStore({ query: never, connect }), connect)
  })

  test('is used if it calls the callback, and returns a promise of nothing', async () => {
    const pool = fakePool(() => [{}])
    const connect: PgPool['connect'] = async (callback) => {
      await Promise.resolve()
      pool.connect(callback)
    }
    expect(await postgresStore({ ...pool, connect }).claim('key', 1000)).toMatchObject({ state: 'claimed' })
  })
})

describe('the question of a store', () => {
  test.each<[string, () => Promise<never>, RegExp]>([
    [
      'rejected',
      () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
      /^connect ECONNREFUSED$/,
    ],
    ['got no response', () => new Promise(() => {}), /did not respond within 3000 ms/],
  ])('that %s is asked again at the next call, and not after its answer', async (_, failing, words) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const pool = fakePool(() => [{}])
    let answer: PgClient['query'] = failing
    const query = vi.fn<PgClient['query']>((...statement) => answer(...statement))
    const store = postgresStore({ query, connect: (callback) => callback(undefined, { query }, () => undefined) })
    const failed = store.claim('key', 1000).catch((error: Error) => error.message)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(await failed).toMatch(words)
    answer = pool.query
    for (const key of ['one', 'two']) expect(await store.claim(key, 1000)).toMatchObject({ state: 'claimed' })
    expect(query.mock.calls.map(([text]) => text.split(' ')[0])).toEqual(['SELECT', 'SELECT', 'INSERT', 'INSERT'])
  })
})
