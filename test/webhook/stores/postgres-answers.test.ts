import { type PgPool, postgresStore } from 'campaign-client/webhook/postgres'
import { describe, expect, test } from 'vitest'

/** A pool whose answer to each statement is what the test says; one row to BEGIN, COMMIT and ROLLBACK. */
function poolAnswering(answer: (text: string) => unknown[]): PgPool {
  const query = async (text: string) => ({
    rows: /^(BEGIN|COMMIT|ROLLBACK)/.test(text) ? [{}] : answer(text),
  })
  return { query, connect: (callback) => callback(undefined, { query }, () => undefined) }
}

describe('a claim whose holder releases it before it is read', () => {
  /** The claims that are answered with no row, and whether the delivery is theirs at last. */
  async function claimAfter(misses: number) {
    let claims = 0
    const pool = poolAnswering((text) => {
      if (text.startsWith('SELECT')) return []
      if (++claims > 5) throw new Error('asked without an end')
      return claims > misses ? [{}] : []
    })
    return { answer: await postgresStore(pool).claim('key', 1000), claims: () => claims }
  }

  test.each([0, 1, 2])('is retried: %i times', async (misses) => {
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

  test.each([[new Error('Connection terminated')], [{ code: '57P01' }], ['gone'], [undefined]])(
    'a failure (%j) is thrown as it is',
    async (failure) => {
      const outcome = await runOnce(() => {
        throw failure
      }).catch((reason: unknown) => ({ reason }))
      expect(outcome).toEqual({ reason: failure })
    },
  )

  test('a query that failed before is the cause of the error', async () => {
    const refused = Object.assign(new Error('current transaction is aborted'), { code: '25P02' })
    const run = runOnce(() => {
      throw refused
    })
    await expect(run).rejects.toThrow('runOnce committed nothing: its function ignored a failed query')
    await expect(run).rejects.toMatchObject({ cause: refused })
  })

  test('a transaction that was ended says how to end it', async () => {
    await expect(runOnce(() => [])).rejects.toThrow(
      /^the function of runOnce committed or rolled back, .* Throw to roll back, return to commit$/,
    )
  })
})

describe('the row of a delivery that is held', () => {
  const claimHeld = (row: unknown) =>
    postgresStore(poolAnswering((text) => (text.startsWith('SELECT') ? [row] : []))).claim('key', 1000)

  test.each([
    ['a renamed state', { State: 'done', Remaining: 5 }],
    ['a state of another type', { state: 1, remaining: 5 }],
    ['another state', { state: 'DONE', remaining: 5 }],
    ['a renamed time', { state: 'claimed', rest: 5 }],
    ['a time that is null', { state: 'claimed', remaining: null }],
    ['a time that is no number', { state: 'claimed', remaining: 'soon' }],
    ['an infinite time', { state: 'claimed', remaining: Infinity }],
  ])('is refused with %s', async (_, row) => {
    await expect(claimHeld(row)).rejects.toThrow(/^postgresStore can't read a row: /)
  })

  test.each([1500, '1500', 1500n])('may have its time as a number or as text: %s', async (remaining) => {
    expect(await claimHeld({ state: 'claimed', remaining })).toEqual({ state: 'busy', retryMs: 1500 })
  })

  test('a finished call needs no time', async () => {
    expect(await claimHeld({ state: 'done' })).toEqual({ state: 'done' })
  })
})
