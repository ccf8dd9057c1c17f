import { postgresStore } from 'campaign-client/webhook/postgres'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

interface Statement {
  keys: string[]
  answer(): void
  fail(error: Error): void
}

/** A pool whose statements wait until the test answers them: each key is written. */
function waitingPool() {
  const statements: Statement[] = []
  const pool = {
    query: (_text: string, values: unknown[] = []) =>
      new Promise<{ rows: unknown[] }>((resolve, reject) => {
        const writes = JSON.parse(values[0] as string) as { id: string; token: string }[]
        statements.push({
          keys: writes.map(({ id }) => id),
          answer: () => resolve({ rows: writes.map(({ token }) => ({ token })) }),
          fail: reject,
        })
      }),
    connect: () => undefined,
  }
  return { store: postgresStore(pool), statements }
}

const LEASE_MS = 30_000

describe('what is asked of PostgreSQL at the same time', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('goes into one statement while two are under way, and each call has its own answer', async () => {
    const { store, statements } = waitingPool()
    const claims: Promise<unknown>[] = []
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      claims.push(store.claim(key, LEASE_MS))
      await vi.advanceTimersByTimeAsync(0)
    }
    expect(statements.map(({ keys }) => keys)).toEqual([['a'], ['b']])
    statements[0]?.answer()
    await vi.advanceTimersByTimeAsync(0)
    expect(statements.map(({ keys }) => keys)).toEqual([['a'], ['b'], ['c', 'd', 'e']])
    statements[1]?.answer()
    statements[2]?.answer()
    const answers = await Promise.all(claims)
    expect(answers.every((claim) => (claim as { state: string }).state === 'claimed')).toBe(true)
    expect(new Set(answers.map((claim) => (claim as { token: string }).token)).size).toBe(5)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('never writes a key twice in one statement', async () => {
    const { store, statements } = waitingPool()
    const calls = ['a', 'a', 'b', 'a'].map((key) => store.complete(key, 'a token', 1_000_000))
    for (let turn = 0; turn < 4; turn++) {
      await vi.advanceTimersByTimeAsync(0)
      for (const statement of statements) statement.answer()
    }
    expect(await Promise.all(calls)).toEqual([true, true, true, true])
    for (const { keys } of statements) expect(new Set(keys).size).toBe(keys.length)
    expect(statements.flatMap(({ keys }) => keys).sort()).toEqual(['a', 'a', 'a', 'b'])
  })

  test('goes by its time: what is for another one goes into another statement', async () => {
    const { store, statements } = waitingPool()
    const times = { a: LEASE_MS, b: LEASE_MS + 1, c: LEASE_MS }
    const claims = Object.entries(times).map(([key, leaseMs]) => store.claim(key, leaseMs))
    await vi.advanceTimersByTimeAsync(0)
    expect(statements.map(({ keys }) => keys)).toEqual([['a', 'c'], ['b']])
    for (const statement of statements) statement.answer()
    for (const claim of await Promise.all(claims)) expect(claim).toMatchObject({ state: 'claimed' })
  })

  test('is answered also where every call has another time, of which a hundred are kept in mind', async () => {
    const { store, statements } = waitingPool()
    const claims: Promise<unknown>[] = []
    const claim = async (key: string, leaseMs: number) => {
      claims.push(store.claim(key, leaseMs))
      await vi.advanceTimersByTimeAsync(0)
    }
    for (const key of ['a', 'b', 'waits']) await claim(key, LEASE_MS)
    for (let n = 1; n < 100; n++) await claim(`other ${n}`, LEASE_MS + n)
    await claim('waits as well', LEASE_MS)
    const sent = () => statements.flatMap(({ keys }) => keys)
    expect(sent().filter((key) => key.startsWith('waits'))).toEqual([])
    await claim('one more', LEASE_MS + 100)
    await claim('goes at once', LEASE_MS)
    expect(sent().at(-1)).toBe('goes at once')
    for (let turn = 0; turn < 2; turn++) {
      for (const statement of statements) statement.answer()
      await vi.advanceTimersByTimeAsync(0)
    }
    for (const made of await Promise.all(claims)) expect(made).toMatchObject({ state: 'claimed' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is not lost behind statements that hang', async () => {
    const { store, statements } = waitingPool()
    const hanging = ['a', 'b'].map((key) => store.claim(key, LEASE_MS))
    await vi.advanceTimersByTimeAsync(0)
    hanging.push(store.claim('c', LEASE_MS))
    await vi.advanceTimersByTimeAsync(0)
    const waiting = store.claim('d', LEASE_MS)
    const under = statements.length
    await vi.advanceTimersByTimeAsync(500)
    expect(statements.length).toBeGreaterThan(under)
    expect(statements.at(-1)?.keys).toContain('d')
    statements.at(-1)?.answer()
    expect(await waiting).toMatchObject({ state: 'claimed' })
    // Their own answers count, whenever they come, and the pace is what it was.
    for (const statement of statements) statement.answer()
    for (const claim of await Promise.all(hanging)) expect(claim).toMatchObject({ state: 'claimed' })
    const later = ['e', 'f', 'g'].map(async (key) => {
      await vi.advanceTimersByTimeAsync(0)
      return store.claim(key, LEASE_MS)
    })
    for (let turn = 0; turn < 4; turn++) {
      await vi.advanceTimersByTimeAsync(0)
      for (const statement of statements) statement.answer()
    }
    for (const claim of await Promise.all(later)) expect(claim).toMatchObject({ state: 'claimed' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('fails with its own statement, and not with another', async () => {
    const { store, statements } = waitingPool()
    const first = store.claim('a', LEASE_MS)
    await vi.advanceTimersByTimeAsync(0)
    const second = store.claim('b', LEASE_MS)
    await vi.advanceTimersByTimeAsync(0)
    const together = [store.claim('c', LEASE_MS), store.claim('d', LEASE_MS)]
    const failures = Promise.allSettled(together)
    statements[0]?.answer()
    await vi.advanceTimersByTimeAsync(0)
    const lost = new Error('Connection terminated unexpectedly')
    statements[2]?.fail(lost)
    for (const outcome of await failures) expect(outcome).toEqual({ status: 'rejected', reason: lost })
    statements[1]?.answer()
    expect(await first).toMatchObject({ state: 'claimed' })
    expect(await second).toMatchObject({ state: 'claimed' })
    const after = store.claim('c', LEASE_MS)
    await vi.advanceTimersByTimeAsync(0)
    statements[3]?.answer()
    expect(await after).toMatchObject({ state: 'claimed' })
  })
})
