import { type PgPool, postgresStore } from 'campaign-client/webhook/postgres'
import { describe, expect, test } from 'vitest'

/** A pool whose rows the test chooses. BEGIN, COMMIT and ROLLBACK return one row. */
function poolAnswering(answer: (text: string) => unknown[]): PgPool {
  const query = async (text: string) => ({
    rows: /^(BEGIN|COMMIT|ROLLBACK)/.test(text) ? [{}] : answer(text),
  })
  return { query, connect: (callback) => callback(undefined, { query }, () => undefined) }
}

describe('claim, when the delivery is released between INSERT and SELECT', () => {
  /** Claims a delivery. The first `misses` attempts return no row. */
  async function claimAfter(misses: number) {
    let claims = 0
    const pool = poolAnswering((text) => {
      if (text.startsWith('SELECT')) return []
      if (++claims > 5) throw new Error('too many claims')
      return claims > misses ? [{}] : []
    })
    return { answer: await postgresStore(pool).claim('key', 1000), claims: () => claims }
  }

  test.each([0, 1, 2])('succeeds after retries: %i', async (misses) => {
    const { answer, claims } = await claimAfter(misses)
    expect(answer).toEqual({ state: 'claimed', token: expect.any(String) })
    expect(claims()).toBe(misses + 1)
  })

  test('returns busy with retryMs 0 after three attempts', async () => {
    const { answer, claims } = await claimAfter(Infinity)
    expect(answer).toEqual({ state: 'busy', retryMs: 0 })
    expect(claims()).toBe(3)
  })
})

describe('the check that the transaction is still open', () => {
  const runOnce = (answer: () => unknown[]): Promise<unknown> =>
    postgresStore(poolAnswering((text) => (text.startsWith('SELECT') ? answer() : [{}]))).runOnce('key', () => 1)

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

describe('the row of a claimed or completed delivery', () => {
  const claimWithRow = (row: unknown) =>
    postgresStore(poolAnswering((text) => (text.startsWith('SELECT') ? [row] : []))).claim('key', 1000)

  test.each([
    ['a renamed state', { State: 'done', Remaining: 5 }],
    ['a state of another type', { state: 1, remaining: 5 }],
    ['an unknown state', { state: 'DONE', remaining: 5 }],
    ['a renamed time', { state: 'claimed', rest: 5 }],
    ['a time that is null', { state: 'claimed', remaining: null }],
    ['a time that is not a number', { state: 'claimed', remaining: 'soon' }],
    ['an infinite time', { state: 'claimed', remaining: Infinity }],
  ])('is refused with %s', async (_, row) => {
    await expect(claimWithRow(row)).rejects.toThrow(/^postgresStore can't read a row: /)
  })

  test.each([1500, '1500', 1500n])('may have its time as a number, text or bigint: %s', async (remaining) => {
    expect(await claimWithRow({ state: 'claimed', remaining })).toEqual({ state: 'busy', retryMs: 1500 })
  })

  test('needs no time when the delivery is done', async () => {
    expect(await claimWithRow({ state: 'done' })).toEqual({ state: 'done' })
  })
})
