import { type PgPool, postgresStore } from 'campaign-client/webhook/postgres'
import { describe, expect, test } from 'vitest'

/** A pool whose answer to each statement is what the test says; one row to BEGIN, COMMIT and ROLLBACK. */
function poolAnswering(answer: (text: string, values: unknown[]) => unknown[]): PgPool {
  const query = async (text: string, values: unknown[] = []) => ({
    rows: /^(BEGIN|COMMIT|ROLLBACK)/.test(text) ? [{}] : answer(text, values),
  })
  return { query, connect: (callback) => callback(undefined, { query }, () => undefined) }
}

describe('a claim whose holder lets go before it can be looked at', () => {
  /** The claims that are answered with no row, and whether the delivery is theirs at last. */
  async function claimAfter(misses: number) {
    let claims = 0
    const pool = poolAnswering((text, values) => {
      if (text.startsWith('SELECT')) return []
      if (++claims > 5) throw new Error('asked without an end')
      return claims > misses ? JSON.parse(values[0] as string) : []
    })
    return { answer: await postgresStore(pool).claim('key', 1000), claims: () => claims }
  }

  test.each([0, 1, 2])('is asked for again: %i times', async (misses) => {
    const { answer, claims } = await claimAfter(misses)
    expect(answer).toEqual({ state: 'claimed', token: expect.any(String) })
    expect(claims()).toBe(misses + 1)
  })

  test('is busy when that happens three times, and may be asked for again at once', async () => {
    const { answer, claims } = await claimAfter(Infinity)
    expect(answer).toEqual({ state: 'busy', retryMs: 0 })
    expect(claims()).toBe(3)
  })
})

describe('when it is asked whether the transaction is still open', () => {
  const runOnce = (answer: () => unknown[]): Promise<unknown> =>
    postgresStore(poolAnswering((text) => (text.startsWith('SELECT') ? answer() : [{}]))).runOnce('key', () => 1)

  test.each([[new Error('Connection terminated')], [{ code: '57P01' }], ['gone'], [null], [undefined]])(
    'a failure (%j) is passed on as it is',
    async (failure) => {
      const outcome = await runOnce(() => {
        throw failure
      }).catch((reason: unknown) => ({ reason }))
      expect(outcome).toEqual({ reason: failure })
    },
  )

  test('a query that failed before is named as the cause that nothing is committed', async () => {
    const refused = Object.assign(new Error('current transaction is aborted'), { code: '25P02' })
    const run = runOnce(() => {
      throw refused
    })
    await expect(run).rejects.toThrow('committed nothing: a query in its function failed, and the function went on')
    await expect(run).rejects.toMatchObject({ cause: refused })
  })

  test('one that is not is told with the way out', async () => {
    await expect(runOnce(() => [])).rejects.toThrow(
      /ended the transaction itself.* Let it throw to roll back, and return to commit\.$/,
    )
  })
})

describe('a row that can not be read', () => {
  const key = 'key'
  const REMEDY = 'Let it rename no columns (transform of postgres), and read texts as strings (type parsers of pg)'
  const message = (what: string) => `postgresStore can't read what its client answered: ${what}. ${REMEDY}`

  const unreadableTokens: [name: string, row: unknown, what: string][] = [
    ['of another name', { Token: 'a token' }, 'token is undefined in a row of Token'],
    ['of other names', { Token: 'a token', more: 1 }, 'token is undefined in a row of Token, more'],
    ['without columns', {}, 'token is undefined in a row of '],
    ['of another type', { token: Buffer.from('a token') }, 'token is object in a row of token'],
    ['that is null', { token: null }, 'token is null in a row of token'],
    ['of another value', { token: 'A TOKEN' }, 'token is none of those that were sent'],
    ['in a row that is none', 5, 'token is undefined in a row of '],
    ['in no row', null, 'token is undefined in a row of '],
  ]

  test.each(unreadableTokens)('a token %s is no lost claim and no lost record', async (_, row, what) => {
    const store = postgresStore(poolAnswering(() => [row]))
    await expect(store.claim(key, 1000)).rejects.toThrow(new Error(message(what)))
    await expect(store.complete(key, 'a token', 1000)).rejects.toThrow(new Error(message(what)))
  })

  /** What a claim is answered when the delivery is held by somebody, in such a row. */
  const claimHeld = (row: unknown) =>
    postgresStore(poolAnswering((text) => (text.startsWith('SELECT') ? [row] : []))).claim(key, 1000)

  test.each([
    ['a state of another name', { State: 'done', Remaining: 5 }, 'state is undefined in a row of State, Remaining'],
    ['a state of another type', { state: 1, remaining: 5 }, 'state is number in a row of state, remaining'],
    ['another state', { state: 'DONE', remaining: 5 }, 'state is neither claimed nor done'],
    ['a time of another name', { state: 'claimed', rest: 5 }, 'remaining is undefined in a row of state, rest'],
    ['a time that is null', { state: 'claimed', remaining: null }, 'remaining is null in a row of state, remaining'],
    [
      'a time that is no number',
      { state: 'claimed', remaining: 'soon' },
      'remaining is string in a row of state, remaining',
    ],
    [
      'a time without an end',
      { state: 'claimed', remaining: Infinity },
      'remaining is Infinity in a row of state, remaining',
    ],
  ])('%s is no holder', async (_, row, what) => {
    await expect(claimHeld(row)).rejects.toThrow(new Error(message(what)))
  })

  test.each([
    ['number', 1500],
    ['text', '1500'],
    ['bigint', 1500n],
    ['object that prints as one', { toString: () => '1500' }],
  ])('a time is read in whatever form a client has for numbers: %s', async (_, remaining) => {
    expect(await claimHeld({ state: 'claimed', remaining })).toEqual({ state: 'busy', retryMs: 1500 })
  })

  test('what is done needs no time', async () => {
    expect(await claimHeld({ state: 'done' })).toEqual({ state: 'done' })
  })

  test('rows that are only counted may look as they like', async () => {
    const store = postgresStore(poolAnswering(() => [{ Made: '1' }]))
    expect(await store.extend(key, 'a token', 1000)).toBe(true)
    expect(await store.runOnce(key, () => 'applied')).toEqual({ ran: true, result: 'applied' })
    expect(await store.prune()).toBe(1)
  })
})
