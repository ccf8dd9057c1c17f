import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { createWebhookReceiver, LeaseError, signWebhook, type WebhookReceiver } from 'campaign-client/webhook'
import type { PostgresStore, PostgresStoreOptions } from 'campaign-client/webhook/postgres'
import { describe, expect, test } from 'vitest'
import { deferred } from '../receiver/observed-receiver.ts'
import { claimed, freshKey } from './store-clock.ts'

/** One of the two PostgreSQL clients, and what the tests do with it besides `runOnce`. */
export interface RunOnceDatabase<Tx> {
  open(options?: PostgresStoreOptions): PostgresStore<Tx>
  /** A store on connections of its own, for tests that break them: `postgres` reports a loss once more, later. */
  openApart(connections?: number): { store: PostgresStore<Tx>; close(): Promise<void> }
  /** Runs a statement in the transaction; the parameters are text. */
  query(tx: Tx, text: string, ...values: string[]): Promise<readonly Record<string, unknown>[]>
  /** Runs a statement outside of every transaction of the tests. */
  observe(text: string, ...values: string[]): Promise<readonly Record<string, unknown>[]>
  /** The table of the partner's own writes: `(key text)`, without any constraint that would hide a second write. */
  applied: string
}

/** `runOnce`, the same over every client. */
export function runOnceContract<Tx>(database: () => RunOnceDatabase<Tx>): void {
  const apply = (tx: Tx, key: string) =>
    database().query(tx, `INSERT INTO ${database().applied} (key) VALUES ($1::text)`, key)
  const timesApplied = async (key: string) =>
    (await database().observe(`SELECT key FROM ${database().applied} WHERE key = $1::text`, key)).length
  const backendOf = async (tx: Tx) => Number((await database().query(tx, 'SELECT pg_backend_pid() AS pid'))[0]?.pid)
  const waiters = async (backend: number) =>
    (
      await database().observe(
        'SELECT 1 AS n FROM pg_stat_activity WHERE $1::int = ANY (pg_blocking_pids(pid))',
        `${backend}`,
      )
    ).length

  test('the work and its record are committed together, once', async () => {
    const store = database().open()
    const key = freshKey()
    const first = await store.runOnce(key, async (tx) => {
      await apply(tx, key)
      return ['rows', 3]
    })
    expect(first).toEqual({ ran: true, result: ['rows', 3] })
    const second = await store.runOnce(key, async () => expect.unreachable('applied already'))
    expect(second).toEqual({ ran: false })
    expect(await timesApplied(key)).toBe(1)
  })

  test('nothing is visible to others before the commit', async () => {
    const key = freshKey()
    await database()
      .open()
      .runOnce(key, async (tx) => {
        await apply(tx, key)
        expect(await timesApplied(key)).toBe(0)
      })
    expect(await timesApplied(key)).toBe(1)
  })

  test('rethrows the error of the function, rolls back, and runs again on the next call', async () => {
    const store = database().open()
    const key = freshKey()
    const reason = new Error('the partner changed its mind')
    await expect(
      store.runOnce(key, async (tx) => {
        await apply(tx, key)
        throw reason
      }),
    ).rejects.toBe(reason)
    await expect(
      store.runOnce(key, () => {
        throw reason
      }),
    ).rejects.toBe(reason)
    expect(await timesApplied(key)).toBe(0)
    expect(await store.runOnce(key, (tx) => apply(tx, key).then(() => 'second'))).toEqual({
      ran: true,
      result: 'second',
    })
    expect(await timesApplied(key)).toBe(1)
  })

  test('a failed query that the function ignored is not a success', async () => {
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

  describe('use of the transaction outside of its function', () => {
    test('a tx that was kept cannot be used after runOnce: nothing is written outside of the transaction', async () => {
      const store = database().open()
      const key = freshKey()
      let kept: Tx | undefined
      await store.runOnce(key, (tx) => {
        kept = tx
      })
      const late = async () => apply(kept as Tx, key)
      await expect(late()).rejects.toThrow(/runOnce has ended/)
      // Nor does it reach the transaction of somebody who has the same connection now.
      await store.runOnce(freshKey(), async () => {
        await expect(late()).rejects.toThrow(/runOnce has ended/)
      })
      expect(await timesApplied(key)).toBe(0)
    })

    test('a late write that the function did not await is refused', async () => {
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

    test('a tx of a function that threw is refused as well', async () => {
      const key = freshKey()
      let kept: Tx | undefined
      await database()
        .open()
        .runOnce(key, (tx) => {
          kept = tx
          throw new Error('the partner changed its mind')
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
    ])('a function that sends %s is told that it ended the transaction', async (_, statements, isFree) => {
      const { store, close } = database().openApart()
      const key = freshKey()
      try {
        await expect(
          store.runOnce(key, async (tx) => {
            await apply(tx, key)
            for (const statement of statements) await database().query(tx, statement)
          }),
          // `postgres` refuses BEGIN itself.
        ).rejects.toThrow(/the function of runOnce committed|UNSAFE_TRANSACTION/)
        expect(await timesApplied(key)).toBe(isFree ? 0 : 1)
        expect((await store.runOnce(key, (tx) => apply(tx, key))).ran).toBe(isFree)
        expect(await timesApplied(key)).toBe(1)
      } finally {
        await close()
      }
    })

    test('ROLLBACK TO a savepoint is no end', async () => {
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

    test('36 messages at once, over four connections, for longer than a lease: no lease is lost', async () => {
      const { store, close } = database().openApart(4)
      const errors: unknown[] = []
      const applied: string[] = []
      const receiver = createWebhookReceiver({
        endpoint: randomUUID(),
        secret: SECRET,
        store,
        leaseMs: 2500,
        deadlineMs: 60_000,
        onError: (error) => errors.push(error),
        handle: async (_event, { key }) => {
          await store.runOnce(key, async (tx) => {
            await database().query(tx, 'SELECT 1 AS n FROM pg_sleep(0.35)')
            await apply(tx, key)
          })
          applied.push(key)
        },
      })
      try {
        const statuses = await Promise.all(Array.from({ length: 36 }, () => deliver(receiver)))
        expect(errors.filter((error) => error instanceof LeaseError)).toEqual([])
        expect(new Set(statuses)).toEqual(new Set([200]))
        for (const key of applied) expect(await timesApplied(key)).toBe(1)
      } finally {
        await receiver.close()
        await close()
      }
    })
  })

  test('of 20 concurrent calls one applies, and the others find it done', async () => {
    const key = freshKey()
    const stores = [database().open(), database().open()]
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => stores[i % 2]?.runOnce(key, (tx) => apply(tx, key).then(() => i))),
    )
    expect(outcomes.filter((outcome) => outcome?.ran)).toHaveLength(1)
    expect(await timesApplied(key)).toBe(1)
  })

  test.each([
    ['applies when the first one rolls back', true],
    ['finds it done when the first one commits', false],
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

  test('claims and runOnce keys are separate, also when the texts are equal', async () => {
    const store = database().open()
    const key = freshKey()
    const token = await claimed(store, key, 60_000)
    expect((await store.runOnce(key, (tx) => apply(tx, key))).ran).toBe(true)
    expect((await store.claim(key, 60_000)).state).toBe('busy')
    await store.release(key, token)
    expect((await store.runOnce(key, (tx) => apply(tx, key))).ran).toBe(false)
    const again = await claimed(store, key, 60_000)
    expect(await store.complete(key, again, 60_000)).toBe(true)
    expect((await store.runOnce(key, (tx) => apply(tx, key))).ran).toBe(false)
  })

  test('a stale holder that comes back after a takeover applies nothing', async () => {
    const store = database().open()
    const key = freshKey()
    const stale = await claimed(store, key, 1)
    for (let i = 0; i < 500 && (await store.extend(key, stale, 1)); i++) await wait(1)
    const holder = await claimed(store, key, 60_000)
    expect((await store.runOnce(key, (tx) => apply(tx, key))).ran).toBe(true)
    // The process that was paused goes on where it was, and knows nothing of all this.
    expect((await store.runOnce(key, (tx) => apply(tx, key))).ran).toBe(false)
    expect(await store.complete(key, stale, 60_000)).toBe(false)
    expect(await store.complete(key, holder, 60_000)).toBe(true)
    expect(await timesApplied(key)).toBe(1)
  })

  describe('when the connection is lost', () => {
    test.each([
      ['in the middle of the function', true],
      ['just before the commit', false],
    ])('%s, nothing is applied, and the next call applies', async (_, inTheMiddle) => {
      const { store, close } = database().openApart()
      const key = freshKey()
      try {
        await expect(
          store.runOnce(key, async (tx) => {
            await apply(tx, key)
            await database().observe('SELECT pg_terminate_backend($1::int)', `${await backendOf(tx)}`)
            if (!inTheMiddle) return
            // Nobody queries at the moment of the loss: it reaches the client as an event.
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
      } finally {
        await close()
      }
    })

    test('the store works again once the database is back', async () => {
      const { store, close } = database().openApart()
      const key = freshKey()
      try {
        await store
          .runOnce(freshKey(), async (tx) => {
            await database().observe('SELECT pg_terminate_backend($1::int)', `${await backendOf(tx)}`)
            await wait(20)
          })
          .catch(() => undefined)
        const run = () => store.runOnce(key, (tx) => apply(tx, key)).catch(() => undefined)
        await expect.poll(run, { interval: 5 }).toEqual({ ran: false })
        expect(await timesApplied(key)).toBe(1)
      } finally {
        await close()
      }
    })
  })

  test('a key is forgotten after runOnceRetainMs, and never with Infinity', async () => {
    const brief = database().open({ runOnceRetainMs: 1 })
    const key = freshKey()
    expect((await brief.runOnce(key, (tx) => apply(tx, key))).ran).toBe(true)
    let ranAgain = false
    for (let i = 0; i < 100 && !ranAgain; i++) {
      await wait(1)
      ranAgain = (await brief.runOnce(key, (tx) => apply(tx, key))).ran
    }
    expect(ranAgain).toBe(true)

    const forever = database().open({ runOnceRetainMs: Infinity })
    const kept = freshKey()
    expect((await forever.runOnce(kept, () => 1)).ran).toBe(true)
    await brief.prune(1_000_000)
    expect((await brief.runOnce(kept, () => 2)).ran).toBe(false)
  })

  test('keys that PostgreSQL cannot store are refused before anything is sent', async () => {
    for (const bad of ['', 'a\0b', '\udc00']) {
      await expect(
        database()
          .open()
          .runOnce(bad, () => expect.unreachable()),
      ).rejects.toThrow(TypeError)
    }
  })

  test('a message id of any length is a key', async () => {
    const long = freshKey() + '漢'.repeat(100_000)
    expect(
      (
        await database()
          .open()
          .runOnce(long, () => 1)
      ).ran,
    ).toBe(true)
    expect(
      (
        await database()
          .open()
          .runOnce(`${long}x`, () => 1)
      ).ran,
    ).toBe(true)
    expect(
      (
        await database()
          .open()
          .runOnce(long, () => 1)
      ).ran,
    ).toBe(false)
  })
}
