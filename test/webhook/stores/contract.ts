import { ConfigurationError } from 'campaign-client'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { DeliveryStore, FailedDelivery, MessageToKeep } from '../../../src/webhook/stores/delivery-store.ts'
import { claimed, freshKey, waitOnStoreClock } from './store-clock.ts'

/** Longer than any test. */
const LONG = 60_000
/** Short enough to wait for, and long enough for a few calls on a busy machine. */
const SHORT = 3_000

/**
 * The tests of the `DeliveryStore` contract, for every store. `expectStoreFollowsModel` tests sequences of calls.
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
}

/**
 * The tests of a store whose clock was set back.
 *
 * @param postpone - moves the ends of the records of keys, so that they lie further ahead
 */
export function clockContract(
  open: () => DeliveryStore,
  postpone: (keys: readonly string[], ms: number) => unknown,
): void {
  test('after the clock was set back, the claim of a dead process has expired, and a done delivery is done', async () => {
    const store = open()
    const [dead, done, alive] = [freshKey(), freshKey(), freshKey()]
    const token = await claimed(store, dead, LONG)
    await store.complete(done, await claimed(store, done, LONG), LONG)
    const own = await claimed(store, alive, LONG)
    await postpone([dead, done, alive], 3_600_000)
    const next = await claimed(store, dead, LONG)
    expect(await store.complete(dead, token, LONG)).toBe(false)
    expect(await store.complete(dead, next, LONG)).toBe(true)
    expect(await store.claim(done, LONG)).toEqual({ state: 'done' })
    // A process that still runs extends its claim.
    expect(await store.extend(alive, own, LONG)).toBe(true)
    expect(await store.claim(alive, LONG)).toMatchObject({ state: 'busy' })
  })
}

/** The tests of a store that keeps messages, and whose clock was set back. */
export function failedClockContract(
  open: () => KeepingStore,
  postpone: (keys: readonly string[], ms: number) => unknown,
): void {
  clockContract(open, postpone)

  test('after the clock was set back, a failed delivery can be taken', async () => {
    const store = open()
    const key = freshKey()
    const message = { endpoint: 'campaign', rawBody: new Uint8Array([1]), retainMs: LONG }
    await store.claim(key, LONG, message).then((claim) => store.release(key, (claim as { token: string }).token))
    await postpone([key], LONG)
    expect(await store.take(key, LONG)).toMatchObject({ state: 'claimed' })
  })
}

/**
 * The tests of `prune`.
 *
 * @param open - opens a store on a table without other records
 */
export function pruneContract(open: (options?: { runOnceRetainMs: number }) => KeepingStore): void {
  test('deletes only expired rows, up to the limit', async () => {
    const store = open()
    const brief = open({ runOnceRetainMs: 1 })
    for (let index = 0; index < 7; index++) await store.complete(freshKey(), 'token', 1)
    for (let index = 0; index < 2; index++) await brief.runOnce(freshKey(), () => 1)
    await claimed(store, freshKey(), 1)
    const [held, done, ran] = [freshKey(), freshKey(), freshKey()]
    await claimed(store, held, LONG)
    await store.complete(done, 'token', LONG)
    await store.runOnce(ran, () => 1)
    await waitOnStoreClock(store, 1)

    expect(await store.prune(4)).toBe(4)
    expect(await store.prune(1)).toBe(1)
    expect(await store.prune(Number.MAX_SAFE_INTEGER)).toBe(5)
    expect(await store.prune()).toBe(0)
    expect((await store.claim(held, 1)).state).toBe('busy')
    expect((await store.claim(done, 1)).state).toBe('done')
    expect((await store.runOnce(ran, () => 1)).ran).toBe(false)
  })

  test.each<unknown>([0, -1, 1.5, Number.NaN, Infinity, '5'])('a limit of %j is refused', async (limit) => {
    const pruned = open().prune(limit as number)
    await expect(pruned).rejects.toThrow(ConfigurationError)
    await expect(pruned).rejects.toThrow('prune: limit must be a whole number, 1 or more, got')
  })
}

/** A store that keeps messages. */
export interface KeepingStore extends Required<DeliveryStore> {
  runOnce(key: string, apply: () => unknown): Promise<{ ran: boolean }>
  prune(limit?: number): Promise<number>
}

/** The tests of the `DeliveryStore` contract for a store that keeps messages. */
export function failedContract(open: () => KeepingStore): void {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  const messageFor = (endpoint: string, rawBody = bytes('{"id":"1"}')) => ({ endpoint, rawBody, retainMs: LONG })

  /** Claims a free delivery with a message, and returns the token. */
  async function keep(store: KeepingStore, key: string, message: MessageToKeep, leaseMs = LONG): Promise<string> {
    const claim = await store.claim(key, leaseMs, message)
    if (claim.state !== 'claimed') expect.unreachable(claim.state)
    expect(claim.notKept).toBeUndefined()
    return claim.token
  }

  /** Claims and releases a delivery with a message. */
  async function fail(store: KeepingStore, key: string, message: MessageToKeep, error = 'Error: why'): Promise<void> {
    const { rawBody } = message
    await store.release(key, await keep(store, key, message), { reason: 'handler_failed', error, rawBody })
  }

  const keysOf = (page: readonly FailedDelivery[]): string[] => page.map(({ key }) => key)

  describe('failed messages', () => {
    test('a released message is listed with its failure, taken with its bytes, and removed when it is completed', async () => {
      const [key, endpoint] = [freshKey(), freshKey()]
      const message = messageFor(endpoint)
      await fail(open(), key, message)
      const [failed, ...others] = await open().failed(endpoint)
      expect(others).toEqual([])
      expect(failed).toEqual({
        key,
        rawBody: message.rawBody,
        attempts: 1,
        reason: 'handler_failed',
        error: 'Error: why',
        firstFailedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        lastFailedAt: failed?.firstFailedAt,
        ageMs: expect.any(Number),
        position: expect.any(String),
      })
      expect(failed?.ageMs).toBeGreaterThanOrEqual(0)
      expect(failed?.ageMs).toBeLessThan(LONG)

      const store = open()
      const taken = await store.take(key, LONG)
      if (taken.state !== 'claimed') expect.unreachable(taken.state)
      expect(taken.rawBody).toEqual(message.rawBody)
      expect(await store.failed(endpoint)).toEqual([])
      expect(await store.complete(key, taken.token, LONG)).toBe(true)
      expect(await store.failed(endpoint)).toEqual([])
      expect(await store.take(key, LONG)).toEqual({ state: 'done' })
      expect(await store.forget(key)).toBe(false)
      expect(await store.claim(key, LONG, message)).toEqual({ state: 'done' })
    })

    test('a message whose claim has expired is not finished, and a later failure keeps the time of the first', async () => {
      const store = open()
      const [key, endpoint] = [freshKey(), freshKey()]
      await keep(store, key, messageFor(endpoint), 1)
      await waitOnStoreClock(store, 1)
      const [killed] = await store.failed(endpoint)
      expect(killed).toMatchObject({ key, attempts: 1, reason: 'not_finished' })
      expect(killed).not.toHaveProperty('error')
      expect(killed?.firstFailedAt).toBe(killed?.lastFailedAt)

      await fail(store, key, messageFor(endpoint))
      const taken = await store.take(key, LONG)
      if (taken.state !== 'claimed') expect.unreachable(taken.state)
      const { rawBody } = taken
      await waitOnStoreClock(store, 2)
      await store.release(key, taken.token, { reason: 'interrupted', rawBody })
      const [last] = await store.failed(endpoint)
      expect(last).toMatchObject({ attempts: 3, reason: 'interrupted', firstFailedAt: killed?.firstFailedAt })
      expect(last).not.toHaveProperty('error')
      expect(String(last?.lastFailedAt) > String(killed?.lastFailedAt)).toBe(true)
    })

    test('of 20 concurrent claims and takes of a failed delivery, one succeeds', async () => {
      const stores = [open(), open()]
      const [key, endpoint] = [freshKey(), freshKey()]
      await fail(open(), key, messageFor(endpoint))
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, i) => {
          const store = stores[i % 2] as KeepingStore
          return i % 3 === 0 ? store.claim(key, LONG, messageFor(endpoint)) : store.take(key, LONG)
        }),
      )
      expect(results.map(({ state }) => state).sort()).toEqual([...Array<string>(19).fill('busy'), 'claimed'])
    })

    test('nothing is kept without a message: the delivery cannot be taken', async () => {
      const store = open()
      const [key, other, endpoint] = [freshKey(), freshKey(), freshKey()]
      await store.release(key, await claimed(store, key, LONG), { reason: 'handler_failed', rawBody: bytes('{}') })
      await fail(store, other, messageFor(freshKey()))
      expect(await store.failed(endpoint)).toEqual([])
      for (const unknown of [key, freshKey()]) {
        expect(await store.take(unknown, LONG)).toEqual({ state: 'unknown' })
        expect(await store.forget(unknown)).toBe(false)
      }
    })

    test('a release without a failure keeps the message', async () => {
      const store = open()
      const [key, endpoint] = [freshKey(), freshKey()]
      await store.release(key, await keep(store, key, messageFor(endpoint)))
      expect(await store.failed(endpoint)).toMatchObject([{ key, reason: 'not_finished' }])
    })

    test('the token of an earlier claim changes nothing', async () => {
      const store = open()
      const [key, endpoint] = [freshKey(), freshKey()]
      const stale = await keep(store, key, messageFor(endpoint))
      await store.release(key, stale, { reason: 'handler_failed', rawBody: bytes('{}') })
      const taken = await store.take(key, LONG)
      await store.release(key, stale, { reason: 'interrupted', rawBody: bytes('{}') })
      expect(await store.complete(key, stale, LONG)).toBe(false)
      expect(await store.take(key, LONG)).toMatchObject({ state: 'busy' })
      await store.release(key, (taken as { token: string }).token)
      await store.release(key, stale, { reason: 'interrupted', rawBody: bytes('{}') })
      expect(await store.failed(endpoint)).toMatchObject([{ attempts: 2, reason: 'not_finished' }])
    })

    test('the message of a completed delivery is removed', async () => {
      const store = open()
      const [key, endpoint] = [freshKey(), freshKey()]
      expect(await store.complete(key, await keep(store, key, messageFor(endpoint)), 1)).toBe(true)
      await waitOnStoreClock(store, 1)
      await store.release(key, await claimed(store, key, LONG))
      expect(await store.failed(endpoint)).toEqual([])
    })

    test('a forgotten message is gone, and the claim of a running handler remains without it', async () => {
      const store = open()
      const [key, running, endpoint] = [freshKey(), freshKey(), freshKey()]
      await fail(store, key, messageFor(endpoint))
      const token = await keep(store, running, messageFor(endpoint))
      for (const each of [key, running]) {
        expect(await store.forget(each)).toBe(true)
        expect(await store.forget(each)).toBe(false)
      }
      expect(await store.failed(endpoint)).toEqual([])
      expect((await store.claim(key, LONG)).state).toBe('claimed')
      expect((await store.claim(running, LONG)).state).toBe('busy')
      expect(await store.extend(running, token, LONG)).toBe(true)
      await store.release(running, token, { reason: 'handler_failed', rawBody: bytes('{}') })
      expect(await store.failed(endpoint)).toEqual([])
      expect((await store.claim(running, LONG)).state).toBe('claimed')
    })

    test('of another endpoint are not taken or forgotten, whether they are failed, claimed or done', async () => {
      const store = open()
      const [key, endpoint, other] = [freshKey(), freshKey(), freshKey()]
      const isUnknown = async () => {
        expect(await store.take(key, LONG, other)).toEqual({ state: 'unknown' })
        expect(await store.forget(key, other)).toBe(false)
      }
      await fail(store, key, messageFor(endpoint))
      const failed = await store.failed(endpoint)
      await isUnknown()
      expect(await store.failed(endpoint)).toMatchObject(failed.map(({ ageMs: _, ...rest }) => rest))
      const taken = await store.take(key, LONG, endpoint)
      if (taken.state !== 'claimed') expect.unreachable(taken.state)
      await isUnknown()
      expect(await store.complete(key, taken.token, LONG)).toBe(true)
      await isUnknown()
      expect(await store.take(key, LONG, endpoint)).toEqual({ state: 'done' })
    })

    test('are listed from the oldest, in pages', async () => {
      const store = open()
      const endpoint = freshKey()
      // JSON leaves a line separator in the id of a message as it is.
      const keys = Array.from({ length: 30 }, () => `${freshKey()}\u2028y`)
      for (const key of keys) {
        await fail(store, key, messageFor(endpoint))
        await waitOnStoreClock(store, 1)
      }
      const first = await store.failed(endpoint)
      expect(keysOf(first)).toEqual(keys.slice(0, 25))
      expect(keysOf(await store.failed(endpoint, first.at(-1)?.position))).toEqual(keys.slice(25))
      expect(keysOf(await store.failed(endpoint, first[4]?.position, 3))).toEqual(keys.slice(5, 8))
    })

    test.each([
      ['quotes and SQL', `'"; DROP TABLE campaign_deliveries; --`],
      ['backslashes', '\\u0000 \\'],
      ['letters of many scripts, and an emoji', 'заказ 漢 🦊'],
      ['a line break', 'a\nb'],
      ['nothing', ''],
    ])('store texts with %s unchanged', async (_, text) => {
      const store = open()
      const endpoint = freshKey() + text
      const key = freshKey() + text.replaceAll('\n', '')
      await fail(store, key, messageFor(endpoint), text)
      const [failed] = await store.failed(endpoint)
      expect([failed?.key, failed?.error ?? '']).toEqual([key, text])
    })

    test('may have 256 KiB of any bytes', async () => {
      const store = open()
      const [key, endpoint] = [freshKey(), freshKey()]
      const rawBody = Uint8Array.from({ length: 262_144 }, (_, index) => index)
      await fail(store, key, messageFor(endpoint, rawBody))
      const [failed] = await store.failed(endpoint)
      expect(Buffer.compare(failed?.rawBody ?? bytes(''), rawBody)).toBe(0)
    })

    test('are kept for retainMs after the last failure, by prune() too', async () => {
      const store = open()
      const [key, kept, later, endpoint] = [freshKey(), freshKey(), freshKey(), freshKey()]
      await fail(store, kept, messageFor(endpoint))
      await fail(store, key, { ...messageFor(endpoint), retainMs: 1 })
      await waitOnStoreClock(store, 2)
      expect(keysOf(await store.failed(endpoint))).toEqual([kept])
      expect(await store.take(key, LONG)).toEqual({ state: 'unknown' })
      while ((await store.prune(1000)) === 1000);
      expect(await store.forget(key)).toBe(false)
      expect(keysOf(await store.failed(endpoint))).toEqual([kept])

      await fail(store, key, { ...messageFor(endpoint), retainMs: 1 })
      await waitOnStoreClock(store, 2)
      await fail(store, later, messageFor(endpoint))
      expect(await store.forget(key)).toBe(false)
      expect(keysOf(await store.failed(endpoint))).toEqual([kept, later])
    })

    test('runOnce() removes the message, and a handler that fails afterwards keeps it', async () => {
      const store = open()
      const [key, endpoint] = [freshKey(), freshKey()]
      const message = messageFor(endpoint)
      const token = await keep(store, key, message, 1)
      expect((await store.runOnce(key, () => undefined)).ran).toBe(true)
      await waitOnStoreClock(store, 1)
      expect(await store.failed(endpoint)).toEqual([])
      expect(await store.take(key, LONG)).toEqual({ state: 'unknown' })

      await store.release(key, token, { reason: 'handler_failed', rawBody: message.rawBody })
      expect(await store.failed(endpoint)).toMatchObject([{ key, rawBody: message.rawBody }])
    })

    test('wrong arguments are refused', async () => {
      const store = open()
      for (const bad of ['', 'a\0b', 'a\ud800']) {
        await expect(store.take(bad, LONG)).rejects.toThrow(TypeError)
        await expect(store.forget(bad)).rejects.toThrow(TypeError)
      }
      await expect(store.take(freshKey(), 0)).rejects.toThrow(/^leaseMs/)
      await expect(store.take(freshKey(), 295_001)).rejects.toThrow(ConfigurationError)
      await expect(store.claim(freshKey(), LONG, { ...messageFor('a'), retainMs: 0 })).rejects.toThrow(/^retainMs/)
    })

    test('for any sequence of calls with three tokens, the store behaves like the model', async () => {
      const calls = ['claim', 'take', 'extend', 'complete', 'release', 'forget'] as const
      const step = fc.record({ call: fc.constantFrom(...calls), holder: fc.nat(2) })
      const store = open()
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
          const [key, endpoint] = [freshKey(), freshKey()]
          const message = messageFor(endpoint)
          const tokens = ['none-0', 'none-1', 'none-2']
          let state: 'absent' | 'failed' | 'claimed' | 'done' = 'absent'
          let [owner, isKept] = [-1, false]
          for (const { call, holder } of steps) {
            const token = tokens[holder] as string
            const owns = owner === holder
            if (call === 'claim' || call === 'take') {
              const result = call === 'claim' ? await store.claim(key, LONG, message) : await store.take(key, LONG)
              const free = call === 'claim' || state === 'failed' ? 'claimed' : 'unknown'
              expect(result.state).toBe({ absent: free, failed: free, claimed: 'busy', done: 'done' }[state])
              if (result.state !== 'claimed') continue
              tokens[holder] = result.token
              ;[state, owner, isKept] = ['claimed', holder, true]
            } else if (call === 'extend') {
              expect(await store.extend(key, token, LONG)).toBe(state === 'claimed' && owns)
            } else if (call === 'complete') {
              const isRecorded = state === 'absent' || state === 'failed' || owns
              expect(await store.complete(key, token, LONG)).toBe(isRecorded)
              if (isRecorded) [state, owner, isKept] = ['done', holder, false]
            } else if (call === 'release') {
              await store.release(key, token, { reason: 'handler_failed', rawBody: message.rawBody })
              if (state === 'claimed' && owns) [state, owner] = [isKept ? 'failed' : 'absent', -1]
            } else {
              expect(await store.forget(key)).toBe(isKept)
              if (state === 'failed') state = 'absent'
              isKept = false
            }
            expect(keysOf(await store.failed(endpoint))).toEqual(state === 'failed' ? [key] : [])
          }
        }),
        { numRuns: 60 },
      )
    })
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
