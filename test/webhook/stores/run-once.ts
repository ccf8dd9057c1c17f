import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import {
  createWebhookReceiver,
  type DeliveryStore,
  LeaseError,
  signWebhook,
  type WebhookReceiver,
} from 'campaign-client/webhook'
import type { PostgresStore, PostgresStoreOptions } from 'campaign-client/webhook/postgres'
import { describe, expect, test } from 'vitest'
import { deferred } from '../receiver/observed-receiver.ts'
import { claimed, freshKey } from './store-clock.ts'

/** One of the two PostgreSQL clients, with functions for the tests. */
export interface RunOnceDatabase<Tx> {
  open(options?: PostgresStoreOptions): PostgresStore<Tx>
  /** Opens a store on its own connections, for a test that breaks them. */
  openSeparate(connections?: number): PostgresStore<Tx>
  /** Runs a statement in the transaction; the parameters are text. */
  query(tx: Tx, text: string, ...values: string[]): Promise<readonly Record<string, unknown>[]>
  /** Runs a statement outside the transactions. */
  observe(text: string, ...values: string[]): Promise<readonly Record<string, unknown>[]>
  /** The table that the tests write to: `(key text)`. It has no constraint, so a second write is visible. */
  applied: string
}

/** A store, with functions for the tests. */
interface RunOnceStores<Tx> {
  open(options?: { runOnceRetainMs: number }): {
    claim: DeliveryStore['claim']
    extend: DeliveryStore['extend']
    complete: DeliveryStore['complete']
    release: DeliveryStore['release']
    runOnce(key: string, apply: (tx: Tx) => unknown): Promise<{ ran: boolean; result?: unknown }>
    prune(limit: number): Promise<number>
  }
  /** Writes a row for the key. Returns a promise unless the database is synchronous. */
  apply(tx: Tx, key: string): unknown
  timesApplied(key: string): unknown
}

/** The tests of `runOnce`, for every database. */
export function runOnceOfEveryDatabase<Tx>(database: () => RunOnceStores<Tx>): void {
  const open = (options?: { runOnceRetainMs: number }) => database().open(options)
  const apply = (key: string) => (tx: Tx) => database().apply(tx, key)

  test('the writes and the key are committed together, once', async () => {
    const key = freshKey()
    const first = await open().runOnce(key, (tx) => {
      const written = database().apply(tx, key)
      return written instanceof Promise ? written.then(() => ['rows', 3]) : ['rows', 3]
    })
    expect(first).toEqual({ ran: true, result: ['rows', 3] })
    expect(await open().runOnce(key, () => expect.unreachable('already applied'))).toEqual({ ran: false })
    expect(await database().timesApplied(key)).toBe(1)
  })

  test('the error of the function is rethrown, its writes are rolled back, and the next call runs', async () => {
    const store = open()
    const key = freshKey()
    const reason = new Error('the function failed')
    const fail = () => {
      throw reason
    }
    const failing = store.runOnce(key, (tx) => {
      const written = database().apply(tx, key)
      return written instanceof Promise ? written.then(fail) : fail()
    })
    await expect(failing).rejects.toBe(reason)
    await expect(store.runOnce(key, fail)).rejects.toBe(reason)
    expect(await database().timesApplied(key)).toBe(0)
    expect((await store.runOnce(key, apply(key))).ran).toBe(true)
    expect(await database().timesApplied(key)).toBe(1)
  })

  test('one of 20 concurrent calls runs, and the others resolve to ran: false', async () => {
    const key = freshKey()
    const stores = [open(), open()]
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => stores[index % 2]?.runOnce(key, apply(key))),
    )
    expect(outcomes.filter((outcome) => outcome?.ran)).toHaveLength(1)
    expect(await database().timesApplied(key)).toBe(1)
  })

  test('a claim and a runOnce call with the same key are independent', async () => {
    const store = open()
    const key = freshKey()
    const token = await claimed(store, key, 60_000)
    expect((await store.runOnce(key, apply(key))).ran).toBe(true)
    expect((await store.claim(key, 60_000)).state).toBe('busy')
    await store.release(key, token)
    expect((await store.runOnce(key, apply(key))).ran).toBe(false)
    const again = await claimed(store, key, 60_000)
    expect(await store.complete(key, again, 60_000)).toBe(true)
    expect((await store.runOnce(key, apply(key))).ran).toBe(false)
  })

  test('a process that continues after a takeover applies nothing', async () => {
    const store = open()
    const key = freshKey()
    const stale = await claimed(store, key, 1)
    for (let i = 0; i < 500 && (await store.extend(key, stale, 1)); i++) await wait(1)
    const holder = await claimed(store, key, 60_000)
    expect((await store.runOnce(key, apply(key))).ran).toBe(true)
    // The paused process continues.
    expect((await store.runOnce(key, apply(key))).ran).toBe(false)
    expect(await store.complete(key, stale, 60_000)).toBe(false)
    expect(await store.complete(key, holder, 60_000)).toBe(true)
    expect(await database().timesApplied(key)).toBe(1)
  })

  test('a key is forgotten after runOnceRetainMs, and is kept forever with Infinity', async () => {
    const brief = open({ runOnceRetainMs: 1 })
    const key = freshKey()
    expect((await brief.runOnce(key, () => 1)).ran).toBe(true)
    await expect.poll(async () => (await brief.runOnce(key, () => 1)).ran).toBe(true)
    const kept = freshKey()
    expect((await open({ runOnceRetainMs: Infinity }).runOnce(kept, () => 1)).ran).toBe(true)
    await brief.prune(1_000_000)
    expect((await brief.runOnce(kept, () => 2)).ran).toBe(false)
  })

  test('a runOnceRetainMs that is not a number above 0 is refused', () => {
    for (const bad of [0, -1, Number.NaN, -Infinity, '1' as never]) {
      expect(() => open({ runOnceRetainMs: bad })).toThrow(
        /Store: runOnceRetainMs must be a number of milliseconds above 0/,
      )
    }
  })

  test('malformed keys are refused', async () => {
    for (const bad of ['', 'a\0b', '\udc00']) {
      await expect(open().runOnce(bad, () => expect.unreachable())).rejects.toThrow(TypeError)
    }
  })

  test('a key may have any length', async () => {
    const long = freshKey() + '漢'.repeat(100_000)
    const results = []
    for (const key of [long, `${long}x`, long]) results.push((await open().runOnce(key, () => 1)).ran)
    expect(results).toEqual([true, true, false])
  })
}

/** The tests of `runOnce` in PostgreSQL, for every client. */
export function runOnceContract<Tx>(database: () => RunOnceDatabase<Tx>): void {
  const apply = (tx: Tx, key: string) =>
    database().query(tx, `INSERT INTO ${database().applied} (key) VALUES ($1::text)`, key)
  const timesApplied = async (key: string) =>
    (await database().observe(`SELECT key FROM ${database().applied} WHERE key = $1::text`, key)).length
  runOnceOfEveryDatabase<Tx>(() => ({ open: (options) => database().open(options), apply, timesApplied }))

  const backendOf = async (tx: Tx) => Number((await database().query(tx, 'SELECT pg_backend_pid() AS pid'))[0]?.pid)
  const waiters = async (backend: number) =>
    (
      await database().observe(
        'SELECT 1 AS n FROM pg_stat_activity WHERE $1::int = ANY (pg_blocking_pids(pid))',
        `${backend}`,
      )
    ).length

  test('no write is visible to other sessions before the commit', async () => {
    const key = freshKey()
    await database()
      .open()
      .runOnce(key, async (tx) => {
        await apply(tx, key)
        expect(await timesApplied(key)).toBe(0)
      })
    expect(await timesApplied(key)).toBe(1)
  })

  test('a failed query that the function ignores makes runOnce reject', async () => {
    const store = database().open()
    const key = freshKey()
    await expect(
      store.runOnce(key, async (tx) => {
        await apply(tx, key)
        await database()
          .query(tx, 'SELECT 1 / 0 AS nothing')
          .catch(() => undefined)
      }),
    ).rejects.toThrow(/committed nothing|division by zero/)
    expect(await timesApplied(key)).toBe(0)
    expect((await store.runOnce(key, (tx) => apply(tx, key))).ran).toBe(true)
  })

  describe('tx', () => {
    test('throws after runOnce has ended, and writes nothing', async () => {
      const store = database().open()
      const key = freshKey()
      let kept: Tx | undefined
      await store.runOnce(key, (tx) => {
        kept = tx
      })
      const late = async () => apply(kept as Tx, key)
      await expect(late()).rejects.toThrow(/runOnce has ended/)
      // The old tx does not write in a later transaction on the same connection either.
      await store.runOnce(freshKey(), async () => {
        await expect(late()).rejects.toThrow(/runOnce has ended/)
      })
      expect(await timesApplied(key)).toBe(0)
    })

    test('refuses a write that the function did not await', async () => {
      const store = database().open()
      const key = freshKey()
      const over = deferred()
      let late: Promise<unknown> | undefined
      await store.runOnce(key, (tx) => {
        late = over.promise.then(() => apply(tx, key))
      })
      over.resolve()
      await expect(late).rejects.toThrow(/runOnce has ended/)
      expect(await timesApplied(key)).toBe(0)
    })

    test('throws after its function threw', async () => {
      const key = freshKey()
      let kept: Tx | undefined
      await database()
        .open()
        .runOnce(key, (tx) => {
          kept = tx
          throw new Error('the function failed')
        })
        .catch(() => undefined)
      await expect((async () => apply(kept as Tx, key))()).rejects.toThrow(/runOnce has ended/)
    })

    test.each([
      ['ROLLBACK', ['ROLLBACK'], true],
      ['COMMIT', ['COMMIT'], false],
      ['a ROLLBACK and a BEGIN', ['ROLLBACK', 'BEGIN'], true],
      ['a COMMIT and a BEGIN', ['COMMIT', 'BEGIN'], false],
      ['ROLLBACK AND CHAIN', ['ROLLBACK AND CHAIN'], true],
    ])('makes runOnce reject after %s', async (_, statements, isRolledBack) => {
      const store = database().openSeparate()
      const key = freshKey()
      await expect(
        store.runOnce(key, async (tx) => {
          await apply(tx, key)
          for (const statement of statements) await database().query(tx, statement)
        }),
        // `postgres` itself refuses BEGIN.
      ).rejects.toThrow(/the function of runOnce committed|UNSAFE_TRANSACTION/)
      expect(await timesApplied(key)).toBe(isRolledBack ? 0 : 1)
      expect((await store.runOnce(key, (tx) => apply(tx, key))).ran).toBe(isRolledBack)
      expect(await timesApplied(key)).toBe(1)
    })

    test('may send ROLLBACK TO SAVEPOINT', async () => {
      const key = freshKey()
      const outcome = await database()
        .open()
        .runOnce(key, async (tx) => {
          await apply(tx, key)
          await database().query(tx, 'SAVEPOINT before')
          await apply(tx, key)
          await database().query(tx, 'ROLLBACK TO SAVEPOINT before')
        })
      expect(outcome.ran).toBe(true)
      expect(await timesApplied(key)).toBe(1)
    })
  })

  describe('a pool that the receiver and runOnce share', () => {
    const SECRET = randomUUID()
    const deliver = async (receiver: WebhookReceiver): Promise<number> => {
      const body = JSON.stringify({ id: randomUUID() })
      const headers = { 'x-service-signature': signWebhook(SECRET, body) }
      return (await receiver.fetch(new Request('http://localhost/', { method: 'POST', body, headers }))).status
    }

    test('loses no lease with 36 concurrent messages over four connections, for longer than a lease', async () => {
      const store = database().openSeparate(4)
      const errors: unknown[] = []
      const applied: string[] = []
      const receiver = createWebhookReceiver({
        endpoint: randomUUID(),
        secret: SECRET,
        store,
        leaseMs: 8_000,
        deadlineMs: 60_000,
        onError: (error) => errors.push(error),
        handle: async (_event, { key }) => {
          await store.runOnce(key, async (tx) => {
            await database().query(tx, 'SELECT 1 AS n FROM pg_sleep(1)')
            await apply(tx, key)
          })
          applied.push(key)
        },
      })
      const statuses = await Promise.all(Array.from({ length: 36 }, () => deliver(receiver)))
      expect(errors.filter((error) => error instanceof LeaseError)).toEqual([])
      expect(new Set(statuses)).toEqual(new Set([200]))
      for (const key of applied) expect(await timesApplied(key)).toBe(1)
      await receiver.close()
    })
  })

  test.each([
    ['runs when the first rolls back', true],
    ['resolves to ran: false when the first commits', false],
  ])('a second call waits for the first, and %s', async (_, rollsBack) => {
    const key = freshKey()
    const order: string[] = []
    let second: Promise<{ ran: boolean }> | undefined
    const first = database()
      .open()
      .runOnce(key, async (tx) => {
        order.push('first')
        await apply(tx, key)
        const backend = await backendOf(tx)
        second = database()
          .open()
          .runOnce(key, async (other) => {
            order.push('second')
            await apply(other, key)
          })
        await expect.poll(() => waiters(backend), { interval: 5 }).toBe(1)
        expect(order).toEqual(['first'])
        if (rollsBack) throw new Error('rolled back')
      })
    await expect(first.then(({ ran }) => ran))
      .resolves.toBe(true)
      .catch((error: Error) => {
        if (!rollsBack || !/rolled back/.test(error.message)) throw error
      })
    expect(await second).toMatchObject({ ran: rollsBack })
    expect(order).toEqual(rollsBack ? ['first', 'second'] : ['first'])
    expect(await timesApplied(key)).toBe(1)
  })

  describe('when the connection is lost', () => {
    test.each([
      ['in the middle of the function', true],
      ['just before the commit', false],
    ])('%s, no write is committed, and the next call runs', async (_, inTheMiddle) => {
      const store = database().openSeparate()
      const key = freshKey()
      await expect(
        store.runOnce(key, async (tx) => {
          await apply(tx, key)
          await database().observe('SELECT pg_terminate_backend($1::int)', `${await backendOf(tx)}`)
          if (!inTheMiddle) return
          // No query is running, so the client reports the lost connection as an event.
          await wait(50)
          await apply(tx, key)
        }),
      ).rejects.toThrow()
      expect(await timesApplied(key)).toBe(0)
      expect(
        (
          await database()
            .open()
            .runOnce(key, (tx) => apply(tx, key))
        ).ran,
      ).toBe(true)
      expect(await timesApplied(key)).toBe(1)
    })

    test('the store opens a new connection', async () => {
      const store = database().openSeparate()
      const key = freshKey()
      await store
        .runOnce(freshKey(), async (tx) => {
          await database().observe('SELECT pg_terminate_backend($1::int)', `${await backendOf(tx)}`)
          await wait(20)
        })
        .catch(() => undefined)
      const run = () => store.runOnce(key, (tx) => apply(tx, key)).catch(() => undefined)
      await expect.poll(run, { interval: 5 }).toEqual({ ran: false })
      expect(await timesApplied(key)).toBe(1)
    })
  })
}
