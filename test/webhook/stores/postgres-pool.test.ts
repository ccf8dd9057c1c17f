import { ConfigurationError } from 'campaign-client'
import { type PgPool, type PostgresSql, type PostgresStore, postgresStore } from 'campaign-client/webhook/postgres'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { fakePool, rowsOfCheck } from '../../databases/fake-pool.ts'
import { deferred } from '../receiver/observed-receiver.ts'

const WARNED = ['small-pool', 'pg-pool-errors', 'postgres-fetch-types'].map((topic) =>
  Symbol.for(`campaign-client.${topic}`),
)

beforeEach(() => {
  for (const symbol of WARNED) Reflect.deleteProperty(globalThis, symbol)
  vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** A pool in which every statement returns one row. */
const pgPool = (options: PgPool['options'], listeners = 1): PgPool =>
  fakePool(() => [{}], {
    ...(options && { options }),
    listenerCount: (event: string) => (event === 'error' ? listeners : 0),
  })

/** A fake `sql` of `postgres`. Every statement returns one row. */
function postgresSql(options: PostgresSql['options']): PostgresSql {
  const sql = () => undefined
  const unsafe = async (text: string) => rowsOfCheck(text) ?? [{}]
  return Object.assign(sql, {
    unsafe,
    begin: async (_options: string, work: (tx: unknown) => Promise<void>) => work(Object.assign(sql, { unsafe })),
    options: { prepare: false, ...options },
  })
}

/** Opens stores on one pool. @param copy - the function of another copy of the package */
type Open = (max?: number) => (copy?: typeof postgresStore) => PostgresStore<unknown>

const clients: [client: string, open: Open][] = [
  [
    'pg',
    (max) => {
      const pool = pgPool(max === undefined ? undefined : { max })
      return (copy = postgresStore) => copy(pool)
    },
  ],
  [
    'postgres',
    (max) => {
      const sql = postgresSql(max === undefined ? {} : { max })
      return (copy = postgresStore) => copy(sql)
    },
  ],
]

describe.each(clients)('runOnce with %s', (_, open) => {
  /** Starts one transaction per store, in order. */
  async function transactions(stores: PostgresStore<unknown>[]) {
    const begun: number[] = []
    const ends = stores.map(() => deferred())
    const runs = stores.map((store, index) =>
      store.runOnce(`key ${index}`, () => {
        begun.push(index)
        return ends[index]?.promise
      }),
    )
    const settle = () => new Promise((resolve) => setImmediate(resolve))
    await settle()
    return {
      begun,
      runs,
      async end(index: number) {
        ends[index]?.resolve()
        await runs[index]
        await settle()
      },
    }
  }

  test('uses all connections of the pool except one, in all its stores together; later calls wait in order', async () => {
    const store = open(3)
    const { begun, end, runs } = await transactions([store(), store(), store(), store(), store()])
    expect(begun).toEqual([0, 1])
    await end(1)
    expect(begun).toEqual([0, 1, 2])
    await end(0)
    expect(begun).toEqual([0, 1, 2, 3])
    await end(2)
    await end(3)
    await end(4)
    for (const run of runs) expect(await run).toEqual({ ran: true, result: undefined })
    // All connections are back in the pool.
    expect((await transactions([store(), store(), store()])).begun).toEqual([0, 1])
    expect(process.emitWarning).not.toHaveBeenCalled()
  })

  test('shares the limit with another copy of the package', async () => {
    const store = open(3)
    vi.resetModules()
    const copy = await import('../../../src/webhook/stores/postgres-store.ts')
    expect(copy.postgresStore).not.toBe(postgresStore)
    const { begun } = await transactions([store(), store(copy.postgresStore), store(copy.postgresStore)])
    expect(begun).toEqual([0, 1])
  })

  test('does not limit its connections when there are two, and the first call warns', async () => {
    const store = open(2)
    await store().release('key', 'a token')
    expect(process.emitWarning).not.toHaveBeenCalled()
    const { begun } = await transactions([store(), store(), store()])
    expect(begun).toEqual([0, 1, 2])
    expect(vi.mocked(process.emitWarning).mock.calls).toEqual([
      [
        'postgresStore: give the pool at least three connections (max). With fewer, claims, extensions and completions ' +
          'wait for transactions, and a lease may expire.',
      ],
    ])
  })

  test('does not limit its connections when their number is unknown', async () => {
    const store = open()
    expect((await transactions([store(), store(), store()])).begun).toEqual([0, 1, 2])
    expect(process.emitWarning).not.toHaveBeenCalled()
  })
})

describe('warnings about settings that can end the process', () => {
  test('are emitted once, even with several copies of the package', async () => {
    for (const symbol of WARNED) Reflect.set(globalThis, symbol, true)
    await postgresStore(pgPool({ max: 2 }, 0)).runOnce('key', () => 1)
    await postgresStore(pgPool({}, 0)).release('key', 'a token')
    postgresStore(postgresSql({ fetch_types: true }))
    expect(process.emitWarning).not.toHaveBeenCalled()
  })

  test('are emitted for a pool of pg without an error listener', async () => {
    const store = postgresStore(pgPool({}, 0))
    expect(process.emitWarning).not.toHaveBeenCalled()
    await store.release('key', 'a token')
    await store.release('key', 'a token')
    expect(vi.mocked(process.emitWarning).mock.calls).toEqual([
      [
        'postgresStore: add an error listener to the pg pool (pool.on("error", …)). Otherwise Node ends the process ' +
          'when an idle connection is lost.',
      ],
    ])
  })

  test('are not emitted for a pool with an error listener, or with unknown listeners', async () => {
    await postgresStore(pgPool({}, 2)).release('key', 'a token')
    await postgresStore(fakePool(() => [{}])).release('key', 'a token')
    expect(process.emitWarning).not.toHaveBeenCalled()
  })

  test('are emitted for a sql of postgres that fetches types', () => {
    postgresStore(postgresSql({ fetch_types: false }))
    expect(process.emitWarning).not.toHaveBeenCalled()
    postgresStore(postgresSql({ fetch_types: true }))
    postgresStore(postgresSql({ fetch_types: true }))
    expect(vi.mocked(process.emitWarning).mock.calls).toEqual([
      [
        'postgresStore: create the sql of "postgres" with fetch_types: false, unless you read arrays. Otherwise a ' +
          'restart or failover of the database can cause an unhandled rejection, which ends the process.',
      ],
    ])
  })
})

test.each([undefined, {}, { prepare: true }, { prepare: undefined }])(
  'a sql of postgres with the options %j is refused, with the reason',
  (options) => {
    const members = { unsafe: async () => [], begin: async () => undefined, options }
    const sql = Object.assign(() => undefined, members) as PostgresSql
    expect(() => postgresStore(sql)).toThrow(ConfigurationError)
    expect(() => postgresStore(sql)).toThrow(
      /made with prepare: false\. .* can lose a COMMIT that the package reports as done/,
    )
  },
)
