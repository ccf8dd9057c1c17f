import { ConfigurationError } from 'campaign-client'
import { type ClaimResult, type DeliveryStore, memoryStore } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { observedReceiver } from '../receiver/observed-receiver.ts'
import { activity, deliveryOf } from '../signed-message.ts'

const LONG = 60_000

interface ClockedStore {
  store: DeliveryStore
  time: { now: number }
}

function clockedStore(maxEntries = 1000): ClockedStore {
  const time = { now: 0 }
  return { store: memoryStore({ maxEntries, now: () => time.now }), time }
}

async function claimed(store: DeliveryStore, key: string, leaseMs = LONG): Promise<string> {
  const result = await store.claim(key, leaseMs)
  if (result.state !== 'claimed') expect.unreachable(`${key} is ${result.state}`)
  return result.token
}

async function finish(store: DeliveryStore, key: string, retainMs = LONG): Promise<void> {
  expect(await store.complete(key, await claimed(store, key), retainMs)).toBe(true)
}

async function claimState(store: DeliveryStore, key: string): Promise<ClaimResult['state']> {
  return (await store.claim(key, 1)).state
}

describe('the clock of the store', () => {
  test('a claim expires exactly at the end of its lease', async () => {
    const { store, time } = clockedStore()
    await claimed(store, 'a', 100)
    time.now = 40
    expect(await store.claim('a', 100)).toEqual({ state: 'busy', retryMs: 60 })
    time.now = 99.9
    expect(await claimState(store, 'a')).toBe('busy')
    time.now = 100
    expect(await claimState(store, 'a')).toBe('claimed')
  })

  test('an extension is refused from the end of the lease on', async () => {
    const { store, time } = clockedStore()
    const token = await claimed(store, 'a', 100)
    time.now = 99
    expect(await store.extend('a', token, 100)).toBe(true)
    time.now = 199
    expect(await store.extend('a', token, 100)).toBe(false)
  })

  test('a completed delivery is remembered exactly for retainMs', async () => {
    const { store, time } = clockedStore()
    await finish(store, 'a', 500)
    time.now = 499
    expect(await claimState(store, 'a')).toBe('done')
    time.now = 500
    expect(await claimState(store, 'a')).toBe('claimed')
  })

  test('a late completion is recorded after the current claim or record has expired', async () => {
    const { store, time } = clockedStore()
    const first = await claimed(store, 'taken over', 100)
    await finish(store, 'forgotten', 200)
    time.now = 100
    await claimed(store, 'taken over', 100)
    time.now = 199
    expect(await store.complete('taken over', first, LONG)).toBe(false)
    expect(await store.complete('forgotten', first, LONG)).toBe(false)
    time.now = 200
    expect(await store.complete('forgotten', first, LONG)).toBe(true)
    expect(await store.complete('taken over', first, LONG)).toBe(true)
  })

  test('the default clock ignores changes of the system time', async () => {
    const store = memoryStore()
    const result = await store.claim('a', LONG)
    expect(result.state).toBe('claimed')
    const busy = await store.claim('a', LONG)
    if (busy.state !== 'busy') expect.unreachable(busy.state)
    expect(busy.retryMs).toBeGreaterThan(0)
    expect(busy.retryMs).toBeLessThanOrEqual(LONG)
  })
})

describe('maxEntries', () => {
  test('the delivery that was completed first is removed first', async () => {
    const { store } = clockedStore(3)
    for (const key of ['a', 'b', 'c', 'd']) await finish(store, key)
    const order = await Promise.all(['b', 'c', 'd'].map((key) => claimState(store, key)))
    expect(order).toEqual(['done', 'done', 'done'])
    expect(await claimState(store, 'a')).toBe('claimed')
  })

  test('the time of completion counts, not the time of the claim', async () => {
    const { store } = clockedStore(3)
    const slow = await claimed(store, 'slow')
    await finish(store, 'quick')
    await store.complete('slow', slow, LONG)
    await finish(store, 'x')
    await claimed(store, 'y')
    expect(await claimState(store, 'slow')).toBe('done')
    expect(await store.claim('quick', 1)).toMatchObject({ state: 'claimed' })
  })

  test('an expired claim is removed like a completed delivery, and a current claim stays', async () => {
    const { store, time } = clockedStore(3)
    await claimed(store, 'expired', 10)
    await claimed(store, 'held', LONG)
    await finish(store, 'lasting', LONG)
    time.now = 10
    await claimed(store, 'new', LONG)
    expect(await claimState(store, 'lasting')).toBe('done')
    expect(await claimState(store, 'held')).toBe('busy')
    expect(await claimState(store, 'new')).toBe('busy')
  })

  test('a delivery is forgotten after retainMs, even when the store is not full', async () => {
    const { store, time } = clockedStore()
    for (const key of ['a', 'b']) await finish(store, key, 10)
    await finish(store, 'c', LONG)
    time.now = 10
    await finish(store, 'd', LONG)
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((key) => claimState(store, key)))).toEqual([
      'claimed',
      'claimed',
      'done',
      'done',
    ])
  })

  test('a current claim is never removed: when all entries are current claims, the next claim is refused', async () => {
    const { store, time } = clockedStore(2)
    const token = await claimed(store, 'a', 100)
    await claimed(store, 'b', 100)
    await expect(store.claim('c', 100)).rejects.toThrow(/all 2 entries are deliveries being handled\. Raise maxEntries/)
    expect(await claimState(store, 'a')).toBe('busy')
    expect(await claimState(store, 'b')).toBe('busy')
    expect(await store.complete('a', token, LONG)).toBe(true)
    await claimed(store, 'c', 100)
    time.now = 100
    await claimed(store, 'd', 100)
  })

  test('a completed delivery is removed for a claim, even when all other entries are current claims', async () => {
    const { store } = clockedStore(100)
    for (let n = 0; n < 99; n++) await claimed(store, `held-${n}`)
    await finish(store, 'done')
    await claimed(store, 'new')
  })

  test('a duplicate of a claimed or completed delivery is recognised, even when the store is full', async () => {
    const { store } = clockedStore(1)
    const token = await claimed(store, 'a')
    expect(await claimState(store, 'a')).toBe('busy')
    await store.complete('a', token, LONG)
    expect(await claimState(store, 'a')).toBe('done')
  })

  test('an expired claim can be taken over when the store is full', async () => {
    const { store, time } = clockedStore(1)
    const stale = await claimed(store, 'a', 100)
    time.now = 100
    const token = await claimed(store, 'a', 100)
    expect(await store.complete('a', stale, LONG)).toBe(false)
    expect(await store.complete('a', token, LONG)).toBe(true)
  })

  test('the number of entries stays below maxEntries for any input', async () => {
    const { store, time } = clockedStore(100)
    for (let n = 0; n < 5050; n++) {
      time.now += 1
      await finish(store, `m-${n}`, 1_000_000)
    }
    // The store removes one entry more than needed, so it keeps the last 99.
    expect(await claimState(store, 'm-4951')).toBe('done')
    expect(await claimState(store, 'm-5049')).toBe('done')
    expect(await claimState(store, 'm-4949')).toBe('claimed')
  })

  test('a receiver whose store is full of current claims responds with 503', async () => {
    const { store } = clockedStore(1)
    await claimed(store, 'held')
    const { receiver, errors } = observedReceiver({ store })
    expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(503)
    expect(String(errors[0]?.error)).toContain('Raise maxEntries')
  })

  test.each([0, -1, 1.5, Number.NaN, Infinity])('%s is refused', (maxEntries) => {
    expect(() => memoryStore({ maxEntries })).toThrow(ConfigurationError)
    expect(() => memoryStore({ maxEntries })).toThrow(
      `memoryStore: maxEntries must be a whole number, 1 or more, got ${maxEntries}`,
    )
  })

  test('a string is refused', () => {
    expect(() => memoryStore({ maxEntries: '5' as never })).toThrow(ConfigurationError)
  })

  test('a clock that is not a function is refused', () => {
    expect(() => memoryStore({ now: 5 as never })).toThrow(ConfigurationError)
  })
})
