import { type PgClient, type PgPool, postgresStore } from 'campaign-client/webhook/postgres'
import { describe, expect, test } from 'vitest'
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

describe('a client that changes rows', () => {
  const storeOver = (row: unknown) => {
    const query = async () => ({ rows: [row] })
    const pool: PgPool = { query, connect: (callback) => callback(undefined, { query }, () => undefined) }
    return postgresStore(pool)
  }

  test.each([
    ['upper-case texts', { unchanged: 'TEXT', missing: null }],
    ['another value for NULL', { unchanged: 'Text', missing: '' }],
    ['a missing column', { unchanged: 'Text' }],
    ['no columns', {}],
  ])('is refused before the first statement if it returns %s', async (_, row) => {
    const store = storeOver(row)
    for (const call of [() => store.claim('key', 1000), () => store.runOnce('key', () => expect.unreachable())]) {
      await expect(call()).rejects.toThrow(
        /^postgresStore can't read rows: .*\(transform of postgres, type parsers of pg\)/,
      )
    }
  })

  test('may rename columns', async () => {
    expect(await storeOver({ Unchanged: 'Text', MISSING: null }).claim('key', 1000)).toMatchObject({ state: 'claimed' })
  })
})

test('a check that failed because of the connection is made again', async () => {
  let isDown = true
  const pool = fakePool(() => [{}])
  const query: PgClient['query'] = async (...statement) => {
    if (isDown) throw new Error('connect ECONNREFUSED')
    return pool.query(...statement)
  }
  const store = postgresStore({ query, connect: (callback) => callback(undefined, { query }, () => undefined) })
  await expect(store.claim('key', 1000)).rejects.toThrow('connect ECONNREFUSED')
  isDown = false
  expect(await store.claim('key', 1000)).toMatchObject({ state: 'claimed' })
})
