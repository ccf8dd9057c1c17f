import { createHash } from 'node:crypto'
import { type ClaimResult, LeaseError, memoryStore } from 'campaign-client/webhook'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { activity, deliveryOf, SECRET, signedHeaders } from '../signed-message.ts'
import { deferred, never, observedReceiver, recordingStore } from './observed-receiver.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('duplicates', () => {
  test('one of 20 concurrent duplicates is handled, 19 are busy, and later duplicates are done', async () => {
    const running = deferred()
    const { receiver, handled, rejections } = observedReceiver({ handle: () => running.promise })
    const message = activity({ id: 'm-1' })
    const responses = Array.from({ length: 20 }, () => receiver.fetch(deliveryOf(message)))
    await vi.advanceTimersByTimeAsync(1)
    expect(handled).toHaveLength(1)
    running.resolve()
    const statuses = (await Promise.all(responses)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, ...Array(19).fill(503)])
    expect(rejections).toEqual(Array(19).fill({ reason: 'busy', status: 503, endpoint: 'campaign', id: 'm-1' }))

    const later = await Promise.all(Array.from({ length: 20 }, () => receiver.fetch(deliveryOf(message))))
    expect(await Promise.all(later.map((response) => response.json()))).toEqual(
      Array(20).fill({ ok: true, result: 'duplicate' }),
    )
    expect(handled).toHaveLength(1)
  })

  test('a message is handled at each of two endpoints that share a store', async () => {
    const store = memoryStore()
    const orders = observedReceiver({ store, endpoint: 'orders' })
    const mails = observedReceiver({ store, endpoint: 'mails' })
    const message = activity()
    for (const { receiver } of [orders, mails, orders, mails]) {
      expect((await receiver.fetch(deliveryOf(message))).status).toBe(200)
    }
    expect([orders.handled.length, mails.handled.length]).toEqual([1, 1])
  })

  test('the key of a delivery is JSON, or a digest when the JSON is too long', async () => {
    const keys: string[] = []
    const { receiver } = observedReceiver({ handle: (_event, { key }) => void keys.push(key) })
    const overhead = JSON.stringify(['campaign', '']).length
    const ids = ['m-1', 'x'.repeat(512 - overhead), 'x'.repeat(513 - overhead)]
    for (const id of ids) await receiver.fetch(deliveryOf(activity({ id })))
    expect(keys).toEqual([
      '["campaign","m-1"]',
      JSON.stringify(['campaign', ids[1]]),
      JSON.stringify([
        '',
        'digest',
        createHash('sha256')
          .update(JSON.stringify(['campaign', ids[2]]))
          .digest('hex'),
      ]),
    ])
  })

  test('different pairs of endpoint and id have different keys', async () => {
    const keys: string[] = []
    const store = memoryStore()
    const pairs: [endpoint: string, id: string][] = [
      ['a', 'b","c'],
      ['a","b', 'c'],
      ['a:b', 'c'],
      ['a', 'b:c'],
      ['a\\', '"b'],
      ['a', '\ud800'],
      ['a', '\udfff'],
      ['a', '\ufffd'],
      ['a', '\u0000'],
      ['a', 'x'.repeat(600)],
      ['a', 'x'.repeat(601)],
      ['a'.repeat(600), 'x'],
    ]
    for (const [endpoint, id] of pairs) {
      const { receiver } = observedReceiver({ store, endpoint, handle: (_event, { key }) => keys.push(key) })
      expect((await receiver.fetch(deliveryOf({ id }))).status).toBe(200)
    }
    expect(new Set(keys).size).toBe(pairs.length)
    for (const key of keys) {
      expect(key.length).toBeLessThanOrEqual(512)
      expect(key).not.toMatch(/\0|\p{Surrogate}/u)
    }
  })

  test('a message is forgotten after retainMs, and not before', async () => {
    const { receiver, handled } = observedReceiver({ retainMs: 400_000 })
    const message = activity()
    await receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(399_999)
    await receiver.fetch(deliveryOf(message))
    expect(handled).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    await receiver.fetch(deliveryOf(message))
    expect(handled).toHaveLength(2)
  })

  test('the default of retainMs is 7 days', async () => {
    const retained: number[] = []
    const inner = memoryStore()
    const { store } = recordingStore(inner, {
      complete(key, token, retainMs) {
        retained.push(retainMs)
        return inner.complete(key, token, retainMs)
      },
    })
    await observedReceiver({ store }).receiver.fetch(deliveryOf(activity()))
    expect(retained).toEqual([604_800_000])
  })

  test.each([
    [12_000, '12'],
    [12_001, '13'],
    [1, '1'],
    [0, '1'],
    [-5, '1'],
    [Number.NaN, '5'],
  ])('a delivery that is busy for %d ms has the Retry-After %s', async (retryMs, retryAfter) => {
    const { store } = recordingStore(memoryStore(), { claim: async () => ({ state: 'busy', retryMs }) })
    const response = await observedReceiver({ store }).receiver.fetch(deliveryOf(activity()))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe(retryAfter)
  })
})

describe('past the deadline', () => {
  test('the sender gets 503, the handler continues, and a later attempt finds the message done', async () => {
    const running = deferred()
    const signals: AbortSignal[] = []
    const { receiver, handled, rejections, errors } = observedReceiver({
      deadlineMs: 4000,
      handle: (_event, { signal }) => {
        signals.push(signal)
        return running.promise
      },
    })
    const message = activity({ id: 'm-1' })
    const first = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(4000)
    const response = await first
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(rejections).toEqual([{ reason: 'past_deadline', status: 503, endpoint: 'campaign', id: 'm-1' }])

    await vi.advanceTimersByTimeAsync(100_000)
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(503)
    running.resolve()
    await vi.advanceTimersByTimeAsync(1)
    const later = await receiver.fetch(deliveryOf(message))
    expect(await later.json()).toEqual({ ok: true, result: 'duplicate' })
    expect(handled).toHaveLength(1)
    expect(signals[0]?.aborted).toBe(false)
    expect(errors).toEqual([])
  })

  test('the error of a handler is reported, and a later attempt is handled', async () => {
    const running = deferred()
    let runs = 0
    const { receiver, errors } = observedReceiver({
      deadlineMs: 4000,
      handle: () => {
        runs += 1
        if (runs === 1) return running.promise
      },
    })
    const message = activity()
    const first = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(4000)
    expect((await first).status).toBe(503)
    running.reject(new Error('too late'))
    await vi.advanceTimersByTimeAsync(1)
    expect(errors).toMatchObject([{ error: { message: 'too late' }, context: { stage: 'handle' } }])
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(200)
    expect(runs).toBe(2)
  })

  test('waitUntil gets a promise that settles when the handler has ended', async () => {
    const running = deferred()
    const { receiver } = observedReceiver({ deadlineMs: 4000, handle: () => running.promise })
    const work: Promise<unknown>[] = []
    const context = {
      waitUntil(promise: Promise<unknown>) {
        expect(this).toBe(context)
        work.push(promise)
      },
    }
    const response = receiver.fetch(deliveryOf(activity()), context)
    await vi.advanceTimersByTimeAsync(4000)
    expect((await response).status).toBe(503)
    expect(work).toHaveLength(1)
    running.resolve()
    await work[0]
  })

  test('an error of waitUntil is reported, and does not change the response', async () => {
    const { receiver, errors } = observedReceiver()
    const context = {
      waitUntil() {
        throw new TypeError('Illegal invocation')
      },
    }
    expect((await receiver.fetch(deliveryOf(activity()), context)).status).toBe(200)
    expect(errors).toMatchObject([{ error: { message: 'Illegal invocation' }, context: { stage: 'receiver' } }])
  })

  test.each([[undefined], [null], [{ params: {} }], [{ waitUntil: 'text' }]])(
    'a second argument without waitUntil (%j) is ignored',
    async (context) => {
      const response = await observedReceiver().receiver.fetch(deliveryOf(activity()), context as object)
      expect(response.status).toBe(200)
    },
  )
})

describe('when the store fails', () => {
  const down = new Error('ECONNREFUSED')

  test.each([
    ['rejects', () => Promise.reject(down)],
    [
      'throws',
      () => {
        throw down
      },
    ],
  ])('and claim() %s: 503, and the handler does not run', async (_, claim) => {
    const { store } = recordingStore(memoryStore(), { claim })
    const { receiver, handled, errors, rejections } = observedReceiver({ store })
    const response = await receiver.fetch(deliveryOf(activity({ id: 'm-1' })))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(handled).toEqual([])
    expect(errors).toEqual([{ error: down, context: { stage: 'claim', endpoint: 'campaign', id: 'm-1' } }])
    expect(rejections).toMatchObject([{ reason: 'store_unavailable', status: 503, id: 'm-1' }])
  })

  test.each([
    [undefined],
    [null],
    [{}],
    [{ state: 'claimed' }],
    [{ state: 'claimed', token: '' }],
    [{ state: 'ok', token: 'a token' }],
  ])('an invalid result of claim() (%j) is reported, and the handler does not run', async (result) => {
    const { store } = recordingStore(memoryStore(), { claim: async () => result as ClaimResult })
    const { receiver, handled, errors } = observedReceiver({ store })
    expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(503)
    expect(handled).toEqual([])
    expect(errors).toMatchObject([{ error: expect.any(TypeError), context: { stage: 'claim' } }])
    expect(String(errors[0]?.error)).toContain("store's claim() must resolve to { state: 'claimed', token }")
  })

  test('a claim that arrives after the deadline is released, not handled', async () => {
    const inner = memoryStore()
    const reply = deferred()
    const { store, calls } = recordingStore(inner, {
      async claim(key, leaseMs) {
        const claim = await inner.claim(key, leaseMs)
        await reply.promise
        return claim
      },
    })
    const { receiver, handled, errors } = observedReceiver({ store, deadlineMs: 2000 })
    const message = activity()
    const response = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(2000)
    expect((await response).status).toBe(503)
    expect(errors).toMatchObject([
      {
        error: { message: "the delivery store's claim() did not respond within 2000 ms" },
        context: { stage: 'claim' },
      },
    ])
    reply.resolve()
    await vi.advanceTimersByTimeAsync(1)
    expect(calls).toEqual(['claim', 'release'])
    expect(handled).toEqual([])
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(200)
    expect(handled).toHaveLength(1)
  })

  test('a late response "busy" or "done" is not released', async () => {
    const replies: ((claim: ClaimResult) => void)[] = []
    const { store, calls } = recordingStore(memoryStore(), {
      claim: () => new Promise((resolve) => replies.push(resolve)),
    })
    const { receiver, errors } = observedReceiver({ store, deadlineMs: 2000 })
    const responses = [receiver.fetch(deliveryOf(activity())), receiver.fetch(deliveryOf(activity()))]
    await vi.advanceTimersByTimeAsync(2000)
    for (const response of responses) expect((await response).status).toBe(503)
    replies[0]?.({ state: 'done' })
    replies[1]?.({ state: 'busy', retryMs: 1 })
    await receiver.close({ timeoutMs: 0 })
    expect(calls).toEqual(['claim', 'claim'])
    expect(errors).toHaveLength(2)
  })

  test('close() waits for a late claim until it is released', async () => {
    const reply = deferred<ClaimResult>()
    const { store, calls } = recordingStore(memoryStore(), { claim: () => reply.promise })
    const { receiver } = observedReceiver({ store, deadlineMs: 2000 })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(2000)
    await response
    let isClosed = false
    const closed = receiver.close().then(() => {
      isClosed = true
    })
    await vi.advanceTimersByTimeAsync(1000)
    expect(isClosed).toBe(false)
    reply.resolve({ state: 'claimed', token: 'a token' })
    await vi.advanceTimersByTimeAsync(1)
    await closed
    expect(calls).toEqual(['claim', 'release'])
  })

  test('the response "done" is valid, even if it took longer than a lease', async () => {
    const { store } = recordingStore(memoryStore(), {
      claim: () => new Promise((resolve) => setTimeout(() => resolve({ state: 'done' }), 1500)),
    })
    const { receiver, errors } = observedReceiver({ store, deadlineMs: 2000, leaseMs: 1000 })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(1500)
    expect(await (await response).json()).toEqual({ ok: true, result: 'duplicate' })
    expect(errors).toEqual([])
  })

  test('a secret that arrives after the deadline is refused, even if a blocked event loop delays the timer', async () => {
    const { store, calls } = recordingStore(memoryStore())
    const { receiver, rejections } = observedReceiver({
      store,
      deadlineMs: 2000,
      secret() {
        const now = performance.now()
        vi.spyOn(performance, 'now').mockImplementation(() => now + 2000)
        return SECRET
      },
    })
    const response = await receiver.fetch(deliveryOf(activity()))
    vi.restoreAllMocks()
    expect(response.status).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'secret_unavailable' }])
    expect(calls).toEqual([])
  })

  test('a timer that fires early still ends the wait for a body', async () => {
    const { receiver, rejections } = observedReceiver({ deadlineMs: 2000 })
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":')) })
    const request = new Request('http://receiver.test/', {
      method: 'POST',
      headers: signedHeaders('{"id":'),
      body,
      duplex: 'half',
    } as RequestInit)
    const now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const response = receiver.fetch(request)
    await vi.advanceTimersByTimeAsync(2000)
    vi.restoreAllMocks()
    expect((await response).status).toBe(408)
    expect(rejections).toMatchObject([{ reason: 'body_timeout' }])
  })

  test('no claim is sent after the deadline when the event loop was blocked', async () => {
    const { store, calls } = recordingStore(memoryStore())
    const { receiver, handled, errors, rejections } = observedReceiver({
      store,
      deadlineMs: 2000,
      async secret() {
        await undefined
        // The clock advances, and no timer fires.
        const now = performance.now()
        vi.spyOn(performance, 'now').mockImplementation(() => now + 2000)
        return SECRET
      },
    })
    const response = await receiver.fetch(deliveryOf(activity()))
    vi.restoreAllMocks()
    expect(response.status).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'store_unavailable' }])
    expect(errors).toMatchObject([
      {
        error: { message: 'the deadline passed before the delivery could be claimed' },
        context: { stage: 'claim' },
      },
    ])
    expect(calls).toEqual([])
    expect(handled).toEqual([])
  })

  test('a claim that fails after the deadline is reported again, and is not released', async () => {
    const reply = deferred<ClaimResult>()
    const { store, calls } = recordingStore(memoryStore(), { claim: () => reply.promise })
    const { receiver, errors } = observedReceiver({ store, deadlineMs: 2000 })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(2000)
    expect((await response).status).toBe(503)
    reply.reject(down)
    await vi.advanceTimersByTimeAsync(1)
    expect(errors.map(({ context }) => context.stage)).toEqual(['claim', 'claim'])
    expect(calls).toEqual(['claim'])
  })

  test('complete() is retried until the message is done', async () => {
    const inner = memoryStore()
    let failures = 3
    const { store, calls } = recordingStore(inner, {
      async complete(key, token, retainMs) {
        if (failures-- > 0) throw down
        return inner.complete(key, token, retainMs)
      },
    })
    const { receiver, handled, errors } = observedReceiver({ store })
    const message = activity()
    const first = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(1400)
    expect((await first).status).toBe(200)
    expect(calls).toEqual(['claim', 'complete', 'complete', 'complete', 'complete'])
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(200)
    expect(handled).toHaveLength(1)
    expect(errors).toEqual([])
  })

  test('and complete() keeps failing, the response is 200, and onError is called once', async () => {
    const { store, calls } = recordingStore(memoryStore(), { complete: () => Promise.reject(down) })
    const { receiver, handled, errors } = observedReceiver({ store })
    const response = receiver.fetch(deliveryOf(activity({ id: 'm-1' })))
    await vi.advanceTimersByTimeAsync(4400)
    expect((await response).status).toBe(200)
    expect(calls.filter((call) => call === 'complete')).toHaveLength(5)
    expect(calls).not.toContain('release')
    expect(errors).toEqual([{ error: down, context: { stage: 'complete', endpoint: 'campaign', id: 'm-1' } }])
    expect(handled).toHaveLength(1)
  })

  test.each([
    ['undefined', undefined],
    ['string', 'OK'],
  ])(
    'and complete() resolves to %s, the response is 200, and onError receives the cause once',
    async (given, result) => {
      const { store, calls } = recordingStore(memoryStore(), { complete: async () => result as unknown as boolean })
      const { receiver, errors } = observedReceiver({ store })
      expect((await receiver.fetch(deliveryOf(activity({ id: 'm-1' })))).status).toBe(200)
      expect(errors).toEqual([
        { error: expect.any(TypeError), context: { stage: 'complete', endpoint: 'campaign', id: 'm-1' } },
      ])
      expect(errors[0]?.error).toHaveProperty(
        'message',
        `the delivery store's complete() must resolve to true or false, and resolved to ${given}`,
      )
      // complete() is not retried.
      expect(calls).toEqual(['claim', 'complete'])
    },
  )

  test('and complete() hangs once, it is retried after two seconds, and the message is done', async () => {
    const inner = memoryStore()
    let sent = 0
    const { store, calls } = recordingStore(inner, {
      complete: (key, token, retainMs) => (sent++ === 0 ? never : inner.complete(key, token, retainMs)),
    })
    const { receiver, handled, errors } = observedReceiver({ store })
    const message = activity()
    const response = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(1999)
    expect(calls).toEqual(['claim', 'complete'])
    await vi.advanceTimersByTimeAsync(1)
    expect((await response).status).toBe(200)
    await vi.advanceTimersByTimeAsync(100)
    expect(calls).toEqual(['claim', 'complete', 'complete'])
    expect(await (await receiver.fetch(deliveryOf(message))).json()).toEqual({ ok: true, result: 'duplicate' })
    expect(handled).toHaveLength(1)
    expect(errors).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('and complete() hangs, the response is 200 after two seconds, and onError is called after five attempts', async () => {
    const { store, calls } = recordingStore(memoryStore(), { complete: () => never })
    const { receiver, errors } = observedReceiver({ store })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(2000)
    expect((await response).status).toBe(200)
    expect(errors).toEqual([])
    await vi.advanceTimersByTimeAsync(12_400)
    expect(calls.filter((call) => call === 'complete')).toHaveLength(5)
    expect(errors).toMatchObject([
      {
        error: { message: "the delivery store's complete() did not respond within 2000 ms" },
        context: { stage: 'complete' },
      },
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a late response to an earlier complete() is accepted, and no error is reported', async () => {
    const replies: ((recorded: boolean) => void)[] = []
    const { store, calls } = recordingStore(memoryStore(), {
      complete: () => new Promise((resolve) => replies.push(resolve)),
    })
    const { receiver, errors } = observedReceiver({ store })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(2050)
    expect((await response).status).toBe(200)
    replies[0]?.(true)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(calls).toEqual(['claim', 'complete'])
    expect(errors).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('all five attempts to complete are made within the lease, even if it is short', async () => {
    const attempts: number[] = []
    const { store } = recordingStore(memoryStore(), {
      complete() {
        attempts.push(performance.now())
        return never
      },
    })
    const { receiver, errors } = observedReceiver({ store, leaseMs: 900 })
    const sentAt = performance.now()
    void receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(900)
    expect(attempts).toHaveLength(5)
    expect(Math.max(...attempts) - sentAt).toBeLessThan(600)
    expect(errors).toMatchObject([
      { error: { message: "the delivery store's complete() did not respond within 60 ms" } },
    ])
  })

  test('and release() fails after the handler threw, the response is 500, and both errors are reported', async () => {
    const { store } = recordingStore(memoryStore(), { release: () => Promise.reject(down) })
    const { receiver, errors } = observedReceiver({ store, handle: () => Promise.reject(new Error('handler')) })
    const message = activity()
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(500)
    // The lease expires, and the next attempt is handled.
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(503)
    await vi.advanceTimersByTimeAsync(30_000)
    expect(errors.map(({ context }) => context.stage)).toEqual(['handle', 'release'])
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(500)
  })

  test('and release() fails once, it is retried, and the next attempt is handled', async () => {
    const inner = memoryStore()
    let sent = 0
    const { store } = recordingStore(inner, {
      release: (key, token) => (sent++ === 0 ? Promise.reject(down) : inner.release(key, token)),
    })
    const { receiver, handled, errors } = observedReceiver({
      store,
      handle: () => Promise.reject(new Error('handler')),
    })
    const message = activity()
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(500)
    await vi.advanceTimersByTimeAsync(100)
    expect((await receiver.fetch(deliveryOf(message))).status).toBe(500)
    expect(handled).toHaveLength(2)
    expect(errors.map(({ context }) => context.stage)).toEqual(['handle', 'handle'])
  })

  test('and release() hangs, the sender gets a response after two seconds', async () => {
    const { store } = recordingStore(memoryStore(), { release: () => never })
    const { receiver, errors } = observedReceiver({ store, handle: () => Promise.reject(new Error('handler')) })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(2000)
    expect((await response).status).toBe(500)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(errors).toMatchObject([
      { context: { stage: 'handle' } },
      {
        error: { message: "the delivery store's release() did not respond within 2000 ms" },
        context: { stage: 'release' },
      },
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('after a takeover, the sender gets 200, and onError gets a LeaseError', async () => {
    const inner = memoryStore()
    const { store } = recordingStore(inner, { complete: async () => false })
    const { receiver, errors, rejections } = observedReceiver({ store })
    expect((await receiver.fetch(deliveryOf(activity({ id: 'm-1' })))).status).toBe(200)
    expect(errors).toMatchObject([
      { error: { code: 'lease_lost' }, context: { stage: 'complete', endpoint: 'campaign', id: 'm-1' } },
    ])
    expect(errors[0]?.error).toBeInstanceOf(LeaseError)
    expect(String(errors[0]?.error)).toMatch(/may have been handled twice/)
    expect(rejections).toEqual([])
  })

  test('no timer is left after every request has its response and every handler has ended', async () => {
    const { receiver } = observedReceiver({
      handle: (event) => {
        if (event.id === 'fails') throw new Error('handler')
      },
    })
    await Promise.all([
      receiver.fetch(deliveryOf(activity())),
      receiver.fetch(deliveryOf({ id: 'fails' })),
      receiver.fetch(deliveryOf(activity(), { secret: 'forged' })),
      receiver.fetch(new Request('http://receiver.test/')),
    ])
    expect(vi.getTimerCount()).toBe(0)
  })
})
