import { type DeliveryStore, LeaseError, memoryStore } from 'campaign-client/webhook'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { activity, deliveryOf, SECRET } from '../signed-message.ts'
import { deferred, never, type ObservedReceiver, observedReceiver, recordingStore } from './observed-receiver.ts'

const LEASE_MS = 30_000
const MAX_RUN_MS = 240_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

interface RunningDelivery extends ObservedReceiver {
  response: Promise<Response>
  running: ReturnType<typeof deferred<void>>
  signal: AbortSignal
  message: { id: string }
}

/** Delivers a message whose handler runs until the test ends it. */
async function startDelivery(store: DeliveryStore): Promise<RunningDelivery> {
  const running = deferred()
  const signals: AbortSignal[] = []
  const observed = observedReceiver({
    store,
    leaseMs: LEASE_MS,
    maxRunMs: MAX_RUN_MS,
    handle: (_event, { signal }) => {
      signals.push(signal)
      return running.promise
    },
  })
  const message = activity()
  const response = observed.receiver.fetch(deliveryOf(message))
  await vi.advanceTimersByTimeAsync(0)
  const [signal] = signals
  if (signal === undefined) expect.unreachable('the handler was not called')
  return { ...observed, response, running, signal, message }
}

const wait = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs))

function reasonOf(signal: AbortSignal): string {
  expect(signal.aborted).toBe(true)
  expect(signal.reason).toBeInstanceOf(LeaseError)
  return (signal.reason as LeaseError).code
}

describe('extending the lease', () => {
  test('the lease is extended after every third of its duration while the handler runs', async () => {
    const inner = memoryStore()
    const { store, calls } = recordingStore(inner)
    const { running, signal, message } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(200_000)
    expect(calls.filter((call) => call === 'extend')).toHaveLength(20)
    expect((await inner.claim(JSON.stringify(['campaign', message.id]), 1)).state).toBe('busy')
    running.resolve()
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
    expect(calls.filter((call) => call === 'extend')).toHaveLength(20)
    expect(calls.at(-1)).toBe('complete')
    expect(signal.aborted).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('an extension that hangs is reported and retried after a sixth of the lease', async () => {
    const inner = memoryStore()
    let sent = 0
    const { store, calls } = recordingStore(inner, {
      extend: (key, token, leaseMs) => (sent++ === 0 ? never : inner.extend(key, token, leaseMs)),
    })
    const { signal, errors } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(14_999)
    expect(calls.filter((call) => call === 'extend')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(calls.filter((call) => call === 'extend')).toHaveLength(2)
    expect(errors).toMatchObject([
      {
        error: { message: "the delivery store's extend() did not respond within 5000 ms" },
        context: { stage: 'extend' },
      },
    ])
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS - 15_001)
    expect(signal.aborted).toBe(false)
    expect(errors).toHaveLength(1)
  })

  test('a late response extends the lease, even if later extensions hang', async () => {
    const replies: ((isExtended: boolean) => void)[] = []
    const { store } = recordingStore(memoryStore(), { extend: () => new Promise((resolve) => replies.push(resolve)) })
    const { signal } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(29_000)
    expect(replies).toHaveLength(4)
    replies[1]?.(true)
    // The extension was sent at 15 s, so the lease ends at 45 s.
    await vi.advanceTimersByTimeAsync(15_999)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(reasonOf(signal)).toBe('lease_lost')
  })

  test('the late response to an extension does not settle the next extension, which is reported too', async () => {
    const replies: ((isExtended: boolean) => void)[] = []
    const { store } = recordingStore(memoryStore(), { extend: () => new Promise((resolve) => replies.push(resolve)) })
    const { errors } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(16_000)
    expect(replies).toHaveLength(2)
    replies[0]?.(true)
    await vi.advanceTimersByTimeAsync(4000)
    expect(errors).toHaveLength(2)
  })

  test.each([true, false])('a response (%s) after the handler has ended changes nothing', async (isExtended) => {
    const replies: ((isExtended: boolean) => void)[] = []
    const { store } = recordingStore(memoryStore(), { extend: () => new Promise((resolve) => replies.push(resolve)) })
    const { signal, running, response, errors } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(10_000)
    running.resolve()
    await vi.advanceTimersByTimeAsync(1)
    await response
    replies[0]?.(isExtended)
    await vi.advanceTimersByTimeAsync(1)
    expect(signal.aborted).toBe(false)
    expect(errors).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('close() does not fire the signal of a handler that has ended but is not recorded yet', async () => {
    const { store } = recordingStore(memoryStore(), { complete: () => never })
    const { receiver, signal, running, errors } = await startDelivery(store)
    running.resolve()
    await vi.advanceTimersByTimeAsync(1)
    void receiver.close({ timeoutMs: 0 })
    await vi.advanceTimersByTimeAsync(500)
    expect(signal.aborted).toBe(false)
    expect(errors).toEqual([])
  })

  test('the deadline of a pending response keeps the process alive, and the other timers do not', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await startDelivery(memoryStore())
    const [deadline, ...others] = timers.mock.results.map(({ value }) => value as NodeJS.Timeout)
    vi.restoreAllMocks()
    expect(deadline?.hasRef()).toBe(true)
    expect(new Set(others.map((timer) => timer.hasRef()))).toEqual(new Set([false]))
  })

  test('a late response "false" ends the lease, even after a newer extension was sent', async () => {
    const replies: ((isExtended: boolean) => void)[] = []
    const { store } = recordingStore(memoryStore(), { extend: () => new Promise((resolve) => replies.push(resolve)) })
    const { signal } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(16_000)
    replies[0]?.(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(reasonOf(signal)).toBe('lease_lost')
  })

  test('an extension that fails after its time limit is not reported again, and causes no further extension', async () => {
    const failures: ((error: unknown) => void)[] = []
    const { store } = recordingStore(memoryStore(), {
      extend: () => new Promise((_resolve, reject) => failures.push(reject)),
    })
    const { errors } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(16_000)
    failures[0]?.(new Error('too late'))
    await vi.advanceTimersByTimeAsync(3_999)
    expect(errors).toHaveLength(1)
    expect(failures).toHaveLength(2)
  })

  test('the next extension is sent in time when the store takes half a lease to respond', async () => {
    const inner = memoryStore()
    const { store } = recordingStore(inner, {
      async extend(key, token, leaseMs) {
        const isExtended = await inner.extend(key, token, leaseMs)
        await wait(14_000)
        return isExtended
      },
    })
    const { signal } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS - 1)
    expect(signal.aborted).toBe(false)
  })

  test('a claim whose response took most of the lease is extended before the lease ends', async () => {
    const inner = memoryStore()
    const { store, calls } = recordingStore(inner, {
      async claim(key, leaseMs) {
        const claim = await inner.claim(key, leaseMs)
        await wait(4_000)
        return claim
      },
    })
    const running = deferred()
    const signals: AbortSignal[] = []
    const { receiver } = observedReceiver({
      store,
      leaseMs: 5_000,
      handle: (_event, { signal }) => {
        signals.push(signal)
        return running.promise
      },
    })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(9_000)
    expect(calls.slice(0, 2)).toEqual(['claim', 'extend'])
    running.resolve()
    expect((await response).status).toBe(200)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })

  test('the lease of a slow claim starts when the claim is sent', async () => {
    const inner = memoryStore()
    const { store } = recordingStore(inner, {
      async claim(key, leaseMs) {
        const claim = await inner.claim(key, leaseMs)
        await wait(4_000)
        return claim
      },
      extend: () => never,
    })
    const signals: AbortSignal[] = []
    const { receiver } = observedReceiver({
      store,
      leaseMs: 5_000,
      handle(_event, { signal }) {
        signals.push(signal)
        return never
      },
    })
    void receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(4_999)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await vi.advanceTimersByTimeAsync(1)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  test('a claim whose response took the whole lease is not handled, because another receiver may have claimed it', async () => {
    const inner = memoryStore()
    const { store, calls } = recordingStore(inner, {
      async claim(key, leaseMs) {
        const claim = await inner.claim(key, leaseMs)
        await wait(5_000)
        return claim
      },
    })
    const { receiver, handled, rejections, errors } = observedReceiver({ store, leaseMs: 5_000 })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(5_000)
    expect((await response).status).toBe(503)
    expect(handled).toEqual([])
    expect(calls).toEqual(['claim', 'release'])
    expect(rejections).toMatchObject([{ reason: 'store_unavailable' }])
    expect(errors).toMatchObject([
      { error: { message: expect.stringContaining('5000 ms') }, context: { stage: 'claim' } },
    ])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('losing the lease', () => {
  test('the store reports the loss: the signal fires at once, and the store is not called again', async () => {
    const { store, calls } = recordingStore(memoryStore(), { extend: async () => false })
    const { signal, errors } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(9_999)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(reasonOf(signal)).toBe('lease_lost')
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
    expect(calls).toEqual(['claim', 'extend'])
    expect(errors).toMatchObject([{ error: { code: 'lease_lost' }, context: { stage: 'extend' } }])
  })

  test('the store is down until the lease expires: the signal fires at the end of the lease', async () => {
    const { store, calls } = recordingStore(memoryStore(), { extend: () => Promise.reject(new Error('down')) })
    const { signal, errors } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(29_999)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(reasonOf(signal)).toBe('lease_lost')
    // The extensions are sent at 10 s, and then every 3 s.
    expect(calls.filter((call) => call === 'extend')).toHaveLength(7)
    expect(errors).toMatchObject([
      ...Array(7).fill({ error: { message: 'down' }, context: { stage: 'extend' } }),
      { error: { code: 'lease_lost' }, context: { stage: 'extend' } },
    ])
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
    expect(calls.filter((call) => call === 'extend')).toHaveLength(7)
  })

  test('the store returns neither true nor false: the result is reported, and the lease is not extended', async () => {
    const { store } = recordingStore(memoryStore(), { extend: async () => undefined as unknown as boolean })
    const { signal, errors } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(29_999)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(reasonOf(signal)).toBe('lease_lost')
    expect(errors[0]?.context.stage).toBe('extend')
    expect(errors[0]?.error).toEqual(
      new TypeError("the delivery store's extend() must resolve to true or false, and resolved to undefined"),
    )
  })

  test('the store was down for less than a lease: the signal does not fire', async () => {
    const inner = memoryStore()
    let isDown = true
    const { store } = recordingStore(inner, {
      extend: (key, token, leaseMs) => (isDown ? Promise.reject(new Error('down')) : inner.extend(key, token, leaseMs)),
    })
    const { signal, running, message, handled, receiver } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(27_000)
    isDown = false
    await vi.advanceTimersByTimeAsync(100_000)
    expect(signal.aborted).toBe(false)
    running.resolve()
    await vi.advanceTimersByTimeAsync(1)
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(200)
    expect(handled).toHaveLength(1)
  })

  test('another receiver takes over the delivery: the stale handler changes nothing', async () => {
    const inner = memoryStore()
    const { store } = recordingStore(inner, { extend: () => never })
    const staleRun = deferred()
    const message = activity()
    const stale = observedReceiver({ store, leaseMs: LEASE_MS, handle: () => staleRun.promise })
    void stale.receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(stale.errors.at(-1)).toMatchObject({ error: { code: 'lease_lost' }, context: { stage: 'extend' } })

    const running = deferred()
    const second = observedReceiver({ store: inner, handle: () => running.promise })
    const response = second.receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(1)
    expect(second.handled).toHaveLength(1)

    staleRun.resolve()
    await vi.advanceTimersByTimeAsync(1)
    expect(stale.errors.at(-1)).toMatchObject({ error: { code: 'lease_lost' }, context: { stage: 'complete' } })
    const third = observedReceiver({ store: inner })
    expect((await third.receiver.fetch(deliveryOf(message))).status).toBe(503)

    running.resolve()
    expect((await response).status).toBe(200)
    expect((await third.receiver.fetch(deliveryOf(message))).status).toBe(200)
    expect(third.handled).toEqual([])
    expect(second.errors).toEqual([])
  })

  test('a handler that fails after its lease was lost does not release the new claim', async () => {
    const inner = memoryStore()
    const { store } = recordingStore(inner, { extend: () => never })
    const stale = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    const key = JSON.stringify(['campaign', stale.message.id])
    expect((await inner.claim(key, LEASE_MS)).state).toBe('claimed')
    stale.running.reject(stale.signal.reason)
    await vi.advanceTimersByTimeAsync(1)
    expect((await inner.claim(key, LEASE_MS)).state).toBe('busy')
  })

  test('a handler that stops because of its signal gets 503 (busy), not 500', async () => {
    const { store } = recordingStore(memoryStore(), { extend: async () => false })
    const { receiver, rejections } = observedReceiver({
      store,
      leaseMs: 3000,
      handle: (_event, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(1000)
    expect((await response).status).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'busy' }])
  })
})

describe('maxRunMs', () => {
  test('the signal fires, and the lease is no longer extended', async () => {
    const inner = memoryStore()
    const { store, calls } = recordingStore(inner)
    const { signal, message } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS - 1)
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(reasonOf(signal)).toBe('run_time_exceeded')
    const extensions = calls.filter((call) => call === 'extend').length

    const key = JSON.stringify(['campaign', message.id])
    expect((await inner.claim(key, 1)).state).toBe('busy')
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect((await inner.claim(key, 1)).state).toBe('claimed')
    expect(calls.filter((call) => call === 'extend')).toHaveLength(extensions)
    expect(calls).not.toContain('release')
  })

  test('a handler that hangs after maxRunMs is reported once', async () => {
    const { signal, running, errors } = await startDelivery(memoryStore())
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
    expect(errors).toMatchObject([
      { error: { code: 'run_time_exceeded' }, context: { stage: 'handle', endpoint: 'campaign' } },
    ])
    expect(errors[0]?.error).toBe(signal.reason)
    running.reject(signal.reason)
    await vi.advanceTimersByTimeAsync(1)
    expect(errors).toHaveLength(1)
  })

  test('an error that a handler throws after its signal fired is reported too', async () => {
    const { running, errors } = await startDelivery(memoryStore())
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
    running.reject(new Error('half done'))
    await vi.advanceTimersByTimeAsync(1)
    expect(errors).toMatchObject([{ error: { code: 'run_time_exceeded' } }, { error: { message: 'half done' } }])
  })

  test('a timer that fires early sends no extension', async () => {
    const { store, calls } = recordingStore(memoryStore())
    const { signal } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS - 1)
    const before = calls.length
    const now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => now + 0.5)
    await vi.advanceTimersByTimeAsync(1)
    vi.restoreAllMocks()
    expect(signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(reasonOf(signal)).toBe('run_time_exceeded')
    expect(calls).toHaveLength(before)
  })

  test('the message of the signal names the reason', async () => {
    const store = memoryStore()
    const cases: [DeliveryStore, RegExp][] = [
      [store, /^the webhook handler ran for maxRunMs; the claim ends when the handler ends or the lease expires$/],
      [recordingStore(store, { extend: async () => false }).store, /^the lease was lost/],
      [recordingStore(store, { extend: () => never }).store, /^the delivery store did not extend the lease/],
    ]
    for (const [caseStore, message] of cases) {
      const { signal } = await startDelivery(caseStore)
      await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
      expect(signal.reason.message).toMatch(message)
    }
  })

  test('no extension is sent when maxRunMs passed during a blocked event loop', async () => {
    const inner = memoryStore()
    const { store, calls } = recordingStore(inner)
    const { signal } = await startDelivery(store)
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS - 5000)
    const before = calls.length
    // The clock advances, and no timer fires.
    const blockedFrom = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => blockedFrom + 6000)
    await vi.advanceTimersByTimeAsync(5000)
    vi.restoreAllMocks()
    expect(reasonOf(signal)).toBe('run_time_exceeded')
    expect(calls).toHaveLength(before)
  })

  test('maxRunMs counts from the arrival of the request, so that every claim ends before the last retry', async () => {
    const ends: number[] = []
    const inner = memoryStore()
    const arrivedAt = performance.now()
    const { store } = recordingStore(inner, {
      async claim(key, leaseMs) {
        ends.push(performance.now() + leaseMs)
        return inner.claim(key, leaseMs)
      },
      async extend(key, token, leaseMs) {
        ends.push(performance.now() + leaseMs)
        return inner.extend(key, token, leaseMs)
      },
    })
    const secret = deferred<string>()
    const { receiver } = observedReceiver({
      store,
      secret: () => secret.promise,
      maxRunMs: 265_000,
      leaseMs: 30_000,
      handle: () => never,
    })
    void receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(9000)
    secret.resolve(SECRET)
    await vi.advanceTimersByTimeAsync(400_000)
    expect(ends.length).toBeGreaterThan(20)
    expect(Math.max(...ends) - arrivedAt).toBeLessThan(295_000)
  })
})
