import { ConfigurationError } from 'campaign-client'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { DeliveryStore } from '../../../src/webhook/stores/delivery-store.ts'
import { claimed, freshKey, waitOnStoreClock } from './store-clock.ts'

/** Longer than any test. */
const LONG = 60_000
/** Short enough to wait for, and long enough for a few calls on a busy machine. */
const SHORT = 3_000

/**
 * The tests of the `DeliveryStore` contract, for every store.
 *
 * @param open - opens the store again, like another process would
 */
export function storeContract(open: () => DeliveryStore): void {
  describe('claims', () => {
    test('a new delivery is claimed with a unique token', async () => {
      const store = open()
      const tokens = [await claimed(store, freshKey(), LONG), await claimed(store, freshKey(), LONG)]
      for (const token of tokens) expect(token.length).toBeGreaterThanOrEqual(16)
      expect(tokens[0]).not.toBe(tokens[1])
    })

    test('a second claim is busy, and has the remaining time of the first', async () => {
      const store = open()
      const key = freshKey()
      await claimed(store, key, LONG)
      const second = await store.claim(key, LONG)
      if (second.state !== 'busy') expect.unreachable(second.state)
      expect(second.retryMs).toBeGreaterThan(0)
      expect(second.retryMs).toBeLessThanOrEqual(LONG)
    })

    test('every store object of the same database sees the claim', async () => {
      const key = freshKey()
      const token = await claimed(open(), key, LONG)
      expect((await open().claim(key, LONG)).state).toBe('busy')
      expect(await open().complete(key, token, LONG)).toBe(true)
      expect(await open().claim(key, LONG)).toEqual({ state: 'done' })
    })

    test('one of 20 concurrent claims of a delivery succeeds', async () => {
      const stores = [open(), open()]
      for (let round = 0; round < 25; round++) {
        const key = freshKey()
        const results = await Promise.all(
          Array.from({ length: 20 }, (_, i) => (stores[i % 2] as DeliveryStore).claim(key, LONG)),
        )
        const states = results.map(({ state }) => state).sort()
        expect(states).toEqual([...Array<string>(19).fill('busy'), 'claimed'])
      }
    })

    test('one of 20 concurrent takeovers of an expired claim succeeds', async () => {
      const store = open()
      const key = freshKey()
      await claimed(store, key, 1)
      await waitOnStoreClock(store, 1)
      const results = await Promise.all(Array.from({ length: 20 }, () => store.claim(key, LONG)))
      expect(results.filter(({ state }) => state === 'claimed')).toHaveLength(1)
    })

    test('the same id at two endpoints is two deliveries', async () => {
      const store = open()
      const id = freshKey()
      const orders = JSON.stringify(['orders', id])
      const mails = JSON.stringify(['mails', id])
      const token = await claimed(store, orders, LONG)
      await claimed(store, mails, LONG)
      expect(await store.complete(orders, token, LONG)).toBe(true)
      expect((await store.claim(mails, LONG)).state).toBe('busy')
      expect((await store.claim(orders, LONG)).state).toBe('done')
    })

    test.each([
      ['quotes and SQL', `'"; DROP TABLE campaign_deliveries; --`],
      ['a hash tag', '{a}{b}'],
      ['non-Latin text', 'заказ ✓ 🦊'],
      ['spaces', '  a  '],
      ['backslashes', '\\u0000\\'],
      ['512 characters of three bytes', '漢'.repeat(512)],
    ])('a key with %s differs from similar keys', async (_, text) => {
      const store = open()
      const run = freshKey()
      const token = await claimed(store, run + text, LONG)
      await claimed(store, `${run}${text}x`, LONG)
      await claimed(store, run + text.slice(1), LONG)
      expect(await store.complete(run + text, token, LONG)).toBe(true)
      expect((await store.claim(run + text, LONG)).state).toBe('done')
      expect((await store.claim(`${run}${text}x`, LONG)).state).toBe('busy')
    })
  })

  describe('completing', () => {
    test('a completed delivery is done, and a second complete() with the same token returns true', async () => {
      const store = open()
      const key = freshKey()
      const token = await claimed(store, key, LONG)
      expect(await store.complete(key, token, LONG)).toBe(true)
      expect(await store.claim(key, LONG)).toEqual({ state: 'done' })
      expect(await store.complete(key, token, LONG)).toBe(true)
      expect(await store.complete(key, 'another token', LONG)).toBe(false)
    })

    test('a done delivery is neither extended nor released', async () => {
      const store = open()
      const key = freshKey()
      const token = await claimed(store, key, LONG)
      await store.complete(key, token, LONG)
      expect(await store.extend(key, token, LONG)).toBe(false)
      await store.release(key, token)
      expect((await store.claim(key, LONG)).state).toBe('done')
    })
  })

  describe('releasing', () => {
    test('a released delivery can be claimed at once; a second release does nothing', async () => {
      const store = open()
      const key = freshKey()
      const first = await claimed(store, key, LONG)
      await store.release(key, first)
      const second = await claimed(store, key, LONG)
      await store.release(key, first)
      expect((await store.claim(key, LONG)).state).toBe('busy')
      expect(await store.complete(key, second, LONG)).toBe(true)
    })

    test('completing after a release records the work, unless another receiver took the delivery', async () => {
      const store = open()
      const key = freshKey()
      const token = await claimed(store, key, LONG)
      await store.release(key, token)
      expect(await store.complete(key, token, LONG)).toBe(true)
      expect((await store.claim(key, LONG)).state).toBe('done')
    })
  })

  describe('fencing', () => {
    test.each(['', 'guessed', '00000000-0000-4000-8000-000000000000'])(
      'the wrong token %j changes nothing',
      async (wrong) => {
        const store = open()
        const key = freshKey()
        const token = await claimed(store, key, LONG)
        expect(await store.extend(key, wrong, 1)).toBe(false)
        expect(await store.complete(key, wrong, LONG)).toBe(false)
        await store.release(key, wrong)
        expect((await store.claim(key, LONG)).state).toBe('busy')
        expect(await store.complete(key, token, LONG)).toBe(true)
      },
    )

    test('the token of an expired claim changes nothing while another claim is current', async () => {
      const store = open()
      const key = freshKey()
      const stale = await claimed(store, key, 1)
      await waitOnStoreClock(store, 1)
      const holder = await claimed(store, key, LONG)
      expect(await store.extend(key, stale, LONG)).toBe(false)
      expect(await store.complete(key, stale, LONG)).toBe(false)
      await store.release(key, stale)
      expect((await store.claim(key, LONG)).state).toBe('busy')
      expect(await store.extend(key, holder, LONG)).toBe(true)
      expect(await store.complete(key, holder, LONG)).toBe(true)
    })

    test('the token of an expired claim cannot complete a delivery that another claim completed', async () => {
      const store = open()
      const key = freshKey()
      const stale = await claimed(store, key, 1)
      await waitOnStoreClock(store, 1)
      const holder = await claimed(store, key, LONG)
      expect(await store.complete(key, holder, LONG)).toBe(true)
      expect(await store.complete(key, stale, 1)).toBe(false)
      await waitOnStoreClock(store, 1)
      expect((await store.claim(key, LONG)).state).toBe('done')
    })

    test('an expired claim is not extended, even without a takeover', async () => {
      const store = open()
      const key = freshKey()
      const token = await claimed(store, key, 1)
      await waitOnStoreClock(store, 1)
      expect(await store.extend(key, token, LONG)).toBe(false)
      expect((await store.claim(key, LONG)).state).toBe('claimed')
    })

    test('an expired claim can be completed when there was no takeover', async () => {
      const store = open()
      const key = freshKey()
      const token = await claimed(store, key, 1)
      await waitOnStoreClock(store, 1)
      expect(await store.complete(key, token, LONG)).toBe(true)
      expect((await store.claim(key, LONG)).state).toBe('done')
    })
  })

  describe('leases by the clock of the store', () => {
    afterEach(() => {
      vi.useRealTimers()
    })

    test.each([
      ['2001', 'behind'],
      ['2101', 'ahead'],
    ])('the clock of the caller has no effect: the year %s (%s)', async (year) => {
      const store = open()
      const held = freshKey()
      const done = freshKey()
      const token = await claimed(store, held, LONG)
      await store.complete(done, await claimed(store, done, LONG), LONG)
      vi.useFakeTimers({ toFake: ['Date'], now: new Date(`${year}-01-01T00:00:00Z`) })
      const result = await store.claim(held, LONG)
      if (result.state !== 'busy') expect.unreachable(result.state)
      expect(result.retryMs).toBeLessThanOrEqual(LONG)
      expect((await store.claim(done, LONG)).state).toBe('done')
      const later = freshKey()
      await claimed(store, later, LONG)
      expect(await store.extend(held, token, LONG)).toBe(true)
      vi.useRealTimers()
      expect((await store.claim(later, LONG)).state).toBe('busy')
      expect((await store.claim(held, LONG)).state).toBe('busy')
    })
  })

  test('wrong arguments are refused', async () => {
    const store = open()
    const key = freshKey()
    for (const [bad, problem] of [
      ['', "be a non-empty string, got ''"],
      [undefined as unknown as string, 'be a non-empty string, got undefined'],
      ['a\0b', 'not contain NUL or a lone surrogate'],
      ['a\ud800', 'not contain NUL or a lone surrogate'],
    ] as const) {
      await expect(store.claim(bad, LONG)).rejects.toThrow(`the key of a delivery must ${problem}`)
      await expect(store.extend(bad, 'token', LONG)).rejects.toThrow(TypeError)
      await expect(store.complete(bad, 'token', LONG)).rejects.toThrow(TypeError)
      await expect(store.release(bad, 'token')).rejects.toThrow(TypeError)
    }
    for (const bad of [0, -1, Number.NaN, '5' as unknown as number]) {
      await expect(store.claim(key, bad)).rejects.toThrow(/^leaseMs must be a number of milliseconds/)
      await expect(store.extend(key, 'token', bad)).rejects.toThrow(/^leaseMs/)
      await expect(store.complete(key, 'token', bad)).rejects.toThrow(/^retainMs/)
    }
    for (const bad of [2 ** 53, Infinity]) {
      await expect(store.complete(key, 'token', bad)).rejects.toThrow(/^retainMs/)
    }
    expect((await store.claim(key, LONG)).state).toBe('claimed')
  })

  test('a lease above 295 000 ms is refused, and one of 295 000 ms accepted', async () => {
    const store = open()
    const key = freshKey()
    for (const tooLong of [295_001, 2 ** 53, Infinity]) {
      for (const call of [store.claim(key, tooLong), store.extend(key, 'token', tooLong)]) {
        const error: unknown = await call.catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(ConfigurationError)
        expect((error as Error).message).toContain(`leaseMs must be at most 295000 milliseconds, got ${tooLong}`)
      }
    }
    const token = await claimed(store, key, 295_000)
    expect(await store.extend(key, token, 295_000)).toBe(true)
    expect((await store.claim(key, LONG)).state).toBe('busy')
  })

  test('the longest and the shortest durations of a receiver are accepted', async () => {
    const store = open()
    const key = freshKey()
    const token = await claimed(store, key, 1234.5)
    expect(await store.extend(key, token, 5000.25)).toBe(true)
    expect(await store.complete(key, token, Number.MAX_SAFE_INTEGER)).toBe(true)
    expect((await store.claim(key, LONG)).state).toBe('done')
    await claimed(store, freshKey(), 0.001)
  })

  test('for any sequence of calls with three tokens, the store behaves like the model', async () => {
    const step = fc.record({
      call: fc.constantFrom('claim' as const, 'extend' as const, 'complete' as const, 'release' as const),
      holder: fc.nat(2),
    })
    const store = open()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        const key = freshKey()
        const tokens = ['none-0', 'none-1', 'none-2']
        let record: { state: 'absent' } | { state: 'claimed' | 'done'; holder: number } = { state: 'absent' }
        for (const { call, holder } of steps) {
          const token = tokens[holder] as string
          const owns = record.state !== 'absent' && record.holder === holder
          if (call === 'claim') {
            const result = await store.claim(key, LONG)
            expect(result.state).toBe({ absent: 'claimed', claimed: 'busy', done: 'done' }[record.state])
            if (result.state === 'claimed') {
              tokens[holder] = result.token
              record = { state: 'claimed', holder }
            }
          } else if (call === 'extend') {
            expect(await store.extend(key, token, LONG)).toBe(record.state === 'claimed' && owns)
          } else if (call === 'complete') {
            const recorded = record.state === 'absent' || owns
            expect(await store.complete(key, token, LONG)).toBe(recorded)
            if (recorded) record = { state: 'done', holder }
          } else {
            await store.release(key, token)
            if (record.state === 'claimed' && owns) record = { state: 'absent' }
          }
        }
      }),
      { numRuns: 60 },
    )
  })
}

/** The tests of the `DeliveryStore` contract that wait for seconds on the clock of the store. */
export function durationContract(open: () => DeliveryStore): void {
  describe.concurrent('durations', () => {
    test('a completed delivery is forgotten after retainMs', async () => {
      const store = open()
      const key = freshKey()
      await store.complete(key, await claimed(store, key, LONG), SHORT)
      expect((await store.claim(key, LONG)).state).toBe('done')
      await waitOnStoreClock(store, SHORT)
      expect((await store.claim(key, LONG)).state).toBe('claimed')
    })

    test('a completed delivery is remembered after its lease', async () => {
      const store = open()
      const key = freshKey()
      await store.complete(key, await claimed(store, key, SHORT), LONG)
      await waitOnStoreClock(store, SHORT)
      expect((await store.claim(key, LONG)).state).toBe('done')
    })

    test('an extended claim outlives its first lease', async () => {
      const store = open()
      const key = freshKey()
      const token = await claimed(store, key, SHORT)
      expect(await store.extend(key, token, LONG)).toBe(true)
      await waitOnStoreClock(store, SHORT)
      expect((await store.claim(key, LONG)).state).toBe('busy')
      expect(await store.complete(key, token, LONG)).toBe(true)
    })

    test('extending counts from now, not from the end of the lease', async () => {
      const store = open()
      const key = freshKey()
      const token = await claimed(store, key, LONG)
      expect(await store.extend(key, token, SHORT)).toBe(true)
      await waitOnStoreClock(store, SHORT)
      expect((await store.claim(key, LONG)).state).toBe('claimed')
    })
  })
}
