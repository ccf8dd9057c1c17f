import { ConfigurationError } from 'campaign-client'
import { LeaseError, memoryStore, type WebhookHandlerContext } from 'campaign-client/webhook'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { activity, deliveryOf, SECRET } from '../signed-message.ts'
import { deferred, never, observedReceiver, recordingStore } from './observed-receiver.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function settled(promise: Promise<unknown>): () => boolean {
  let done = false
  void promise.then(() => {
    done = true
  })
  return () => done
}

describe('close()', () => {
  test('resolves at once when no request is pending, and later requests get 503', async () => {
    const { receiver, handled, rejections } = observedReceiver()
    await receiver.close()
    const response = await receiver.fetch(deliveryOf(activity()))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(rejections).toMatchObject([{ reason: 'closing', status: 503 }])
    expect(handled).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a closed receiver neither checks the signature nor asks for the secret', async () => {
    const secret = vi.fn(() => SECRET)
    const { receiver, rejections } = observedReceiver({ secret })
    await receiver.close()
    expect((await receiver.fetch(deliveryOf(activity(), { secret: 'forged' }))).status).toBe(503)
    expect((await receiver.fetch(new Request('http://receiver.test/'))).status).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'closing' }, { reason: 'closing' }])
    expect(secret).not.toHaveBeenCalled()
  })

  test('returns the same promise again, even with another limit', () => {
    const { receiver } = observedReceiver()
    const first = receiver.close()
    expect(receiver.close({ timeoutMs: 1 })).toBe(first)
  })

  test.each<unknown>([-1, Number.NaN, Infinity, 2 ** 31, '5'])(
    'the limit %j is refused, and the receiver stays open',
    async (timeoutMs) => {
      const { receiver } = observedReceiver()
      expect(() => receiver.close({ timeoutMs: timeoutMs as number })).toThrow(ConfigurationError)
      expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(200)
    },
  )

  test('resolves after running handlers have ended and are recorded', async () => {
    const running = deferred()
    const recorded = deferred()
    const inner = memoryStore()
    const { store } = recordingStore(inner, {
      async complete(key, token, retainMs) {
        await recorded.promise
        return inner.complete(key, token, retainMs)
      },
    })
    const { receiver } = observedReceiver({ store, handle: () => running.promise })
    const message = activity()
    const response = receiver.fetch(deliveryOf(message))
    const hasResponded = settled(response)
    await vi.advanceTimersByTimeAsync(0)
    const closed = receiver.close({ timeoutMs: 60_000 })
    const isClosed = settled(closed)
    expect((await receiver.fetch(deliveryOf(activity()))).status).toBe(503)
    await vi.advanceTimersByTimeAsync(5000)
    expect(isClosed()).toBe(false)
    running.resolve()
    await vi.advanceTimersByTimeAsync(1000)
    expect(isClosed()).toBe(false)
    recorded.resolve()
    await closed
    expect(hasResponded()).toBe(true)
    expect((await response).status).toBe(200)
    expect(await inner.claim(JSON.stringify(['campaign', message.id]), 1)).toEqual({ state: 'done' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('waits for handlers that run past the deadline', async () => {
    const running = deferred()
    const { receiver } = observedReceiver({ deadlineMs: 1000, handle: () => running.promise })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(1000)
    expect((await response).status).toBe(503)
    const isClosed = settled(receiver.close())
    await vi.advanceTimersByTimeAsync(1000)
    expect(isClosed()).toBe(false)
    running.resolve()
    await vi.advanceTimersByTimeAsync(0)
    expect(isClosed()).toBe(true)
  })

  test('fires the signals at the limit; if a handler stops, its claim is released, and its sender gets 503', async () => {
    const { store, calls } = recordingStore(memoryStore())
    const contexts: WebhookHandlerContext[] = []
    const { receiver, rejections } = observedReceiver({
      store,
      handle: (_event, context) => {
        contexts.push(context)
        return new Promise((_resolve, reject) => {
          context.signal.addEventListener('abort', () => reject(context.signal.reason))
        })
      },
    })
    const message = activity()
    const response = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(0)
    const closed = receiver.close({ timeoutMs: 2000 })
    await vi.advanceTimersByTimeAsync(1999)
    expect(contexts[0]?.signal.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await closed
    expect(contexts[0]?.signal.reason).toBeInstanceOf(LeaseError)
    expect(contexts[0]?.signal.reason).toMatchObject({ code: 'receiver_closed' })
    expect(contexts[0]?.signal.reason.message).toMatch(/receiver was closed before the message was handled/)
    expect(calls).toEqual(['claim', 'release'])
    expect((await response).status).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'closing', id: message.id }])
  })

  test('the claim of a handler that ignores its signal is released one second later', async () => {
    const inner = memoryStore()
    const { receiver } = observedReceiver({ store: inner, deadlineMs: 60_000, handle: () => never })
    const message = activity()
    const response = receiver.fetch(deliveryOf(message))
    const hasResponded = settled(response)
    await vi.advanceTimersByTimeAsync(0)
    const closed = receiver.close({ timeoutMs: 0 })
    await vi.advanceTimersByTimeAsync(999)
    const other = observedReceiver({ store: inner })
    expect((await other.receiver.fetch(deliveryOf(message))).status).toBe(503)
    await vi.advanceTimersByTimeAsync(1)
    await closed
    expect(hasResponded()).toBe(true)
    expect((await response).status).toBe(503)
    expect((await other.receiver.fetch(deliveryOf(message))).status).toBe(200)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a message that was handled but is not recorded yet keeps its claim, so that it is not handled again', async () => {
    const { store, calls } = recordingStore(memoryStore(), { complete: () => Promise.reject(new Error('down')) })
    const { receiver } = observedReceiver({ store })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(0)
    const closed = receiver.close({ timeoutMs: 0 })
    await vi.advanceTimersByTimeAsync(2000)
    await closed
    expect((await response).status).toBe(200)
    expect(calls).not.toContain('release')
  })

  test('waits until a later attempt records the message', async () => {
    const inner = memoryStore()
    let isDown = true
    const { store } = recordingStore(inner, {
      complete: (key, token, retainMs) =>
        isDown ? Promise.reject(new Error('down')) : inner.complete(key, token, retainMs),
    })
    const { receiver } = observedReceiver({ store })
    const message = activity()
    const response = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(0)
    expect((await response).status).toBe(200)
    const closed = receiver.close({ timeoutMs: 60_000 })
    const isClosed = settled(closed)
    await vi.advanceTimersByTimeAsync(100)
    expect(isClosed()).toBe(false)
    isDown = false
    await vi.advanceTimersByTimeAsync(10_000)
    await closed
    expect(await inner.claim(JSON.stringify(['campaign', message.id]), 1)).toEqual({ state: 'done' })
  })

  test('and the response do not wait for a release() that hangs', async () => {
    const { store } = recordingStore(memoryStore(), { release: () => never })
    const { receiver, rejections } = observedReceiver({ store, deadlineMs: 300_000, handle: () => never })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(0)
    const hasResponded = settled(response)
    const isClosed = settled(receiver.close({ timeoutMs: 5000 }))
    // At the limit, the handler has one second to stop, and the first attempt to release has two seconds.
    await vi.advanceTimersByTimeAsync(6999)
    expect(isClosed()).toBe(false)
    await vi.advanceTimersByTimeAsync(1001)
    expect([isClosed(), hasResponded()]).toEqual([true, true])
    expect((await response).status).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'closing' }])
  })

  test.each([
    ['before the limit', 10_000, 100],
    ['in the two seconds after the limit', 0, 1500],
  ])('a claim that the store makes %s is released, and its message is not handled', async (_, timeoutMs, delayMs) => {
    const inner = memoryStore()
    const reply = deferred()
    const { store, calls } = recordingStore(inner, {
      async claim(key, leaseMs) {
        await reply.promise
        return inner.claim(key, leaseMs)
      },
    })
    const { receiver, handled, rejections } = observedReceiver({ store })
    const response = receiver.fetch(deliveryOf(activity({ id: 'm-1' })))
    await vi.advanceTimersByTimeAsync(0)
    expect(calls).toEqual(['claim'])
    const closed = receiver.close({ timeoutMs })
    const isClosed = settled(closed)
    await vi.advanceTimersByTimeAsync(delayMs)
    expect(isClosed()).toBe(false)
    reply.resolve()
    await closed
    expect((await response).status).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'closing', id: 'm-1' }])
    expect(calls).toEqual(['claim', 'release'])
    expect(handled).toEqual([])
  })

  test('a message whose body is still arriving is not handled', async () => {
    const { store, calls } = recordingStore(memoryStore())
    const { receiver, handled, rejections } = observedReceiver({ store })
    const whole = deliveryOf(activity({ id: 'm-1' }))
    const bytes = new Uint8Array(await whole.arrayBuffer())
    const arrive = deferred()
    const body = new ReadableStream({
      async start(controller) {
        await arrive.promise
        controller.enqueue(bytes)
        controller.close()
      },
    })
    const request = new Request(whole.url, {
      method: 'POST',
      headers: whole.headers,
      body,
      duplex: 'half',
    } as RequestInit)
    const response = receiver.fetch(request)
    await receiver.close()
    arrive.resolve()
    expect((await response).status).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'closing', id: 'm-1' }])
    expect(handled).toEqual([])
    // The program may have closed the store by now.
    expect(calls).toEqual([])
  })
})
