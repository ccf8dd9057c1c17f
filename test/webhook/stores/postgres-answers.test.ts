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
