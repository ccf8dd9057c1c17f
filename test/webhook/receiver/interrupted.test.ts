import {
  DiscardEvent,
  type LeaseErrorCode,
  memoryStore,
  type WebhookHandler,
  type WebhookHandlerContext,
  type WebhookReceiverOptions,
} from 'campaign-client/webhook'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { activity, deliveryOf, signedHeaders } from '../signed-message.ts'
import { deferred, never, type ObservedReceiver, observedReceiver } from './observed-receiver.ts'

const MAX_RUN_MS = 5000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Resolves when the signal fires, as a handler that stops between two steps. */
const fired = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()))

interface Interruption {
  reason: LeaseErrorCode
  options: Partial<WebhookReceiverOptions>
  /** Delivers the message, and makes the signal fire. */
  deliver(observed: ObservedReceiver, message: { id: string }): Promise<number>
}

async function statusOver(observed: ObservedReceiver, message: unknown, delayMs: number): Promise<number> {
  const response = observed.receiver.fetch(deliveryOf(message))
  await vi.advanceTimersByTimeAsync(delayMs)
  return (await response).status
}

const INTERRUPTIONS: Record<string, Interruption> = {
  'close()': {
    reason: 'receiver_closed',
    options: {},
    async deliver({ receiver }, message) {
      const response = receiver.fetch(deliveryOf(message))
      await vi.advanceTimersByTimeAsync(0)
      void receiver.close({ timeoutMs: 0 })
      await vi.advanceTimersByTimeAsync(0)
      return (await response).status
    },
  },
  maxRunMs: {
    reason: 'run_time_exceeded',
    options: { maxRunMs: MAX_RUN_MS },
    deliver: (observed, message) => statusOver(observed, message, MAX_RUN_MS),
  },
  'the loss of the lease': {
    reason: 'lease_lost',
    options: { leaseMs: 6000 },
    deliver: (observed, message) => statusOver(observed, message, 6000),
  },
  'the end of a Lambda invocation': {
    reason: 'run_time_exceeded',
    options: {},
    async deliver({ receiver }, message) {
      const body = JSON.stringify(message)
      const event = { httpMethod: 'POST', headers: signedHeaders(body), body }
      const response = receiver.lambda(event, { getRemainingTimeInMillis: () => 3000 })
      await vi.advanceTimersByTimeAsync(2200)
      return (await response).statusCode
    },
  },
}

describe.each(Object.entries(INTERRUPTIONS))('a signal that fires because of %s', (name, interruption) => {
  test('makes a handler that returns interrupted: 503, the claim is released, and the next attempt is handled', async () => {
    const inner = memoryStore()
    const store = name === 'the loss of the lease' ? { ...inner, extend: () => never } : inner
    const outcomes: string[] = []
    const signals: AbortSignal[] = []
    const observed = observedReceiver({
      ...interruption.options,
      store,
      onHandled: ({ outcome }) => outcomes.push(outcome),
      async handle(_event, { signal }) {
        signals.push(signal)
        await fired(signal)
        if (signal.aborted) return
        expect.unreachable('the signal had not fired')
      },
    })
    const message = activity()
    expect(await interruption.deliver(observed, message)).toBe(503)
    expect(signals[0]?.reason).toMatchObject({ code: interruption.reason })
    expect(outcomes).toEqual(['interrupted'])

    const next = observedReceiver({ store: inner })
    const response = await next.receiver.fetch(deliveryOf(message))
    expect(await response.json()).toEqual({ ok: true, result: 'handled' })
  })
})

/** Delivers a message whose handler returns only after maxRunMs. Returns its outcome, and that of the next attempt. */
async function outcomesOf(read: (context: WebhookHandlerContext) => unknown): Promise<string[]> {
  const outcomes: string[] = []
  const returned = deferred()
  const { receiver } = observedReceiver({
    maxRunMs: MAX_RUN_MS,
    onHandled: ({ outcome }) => outcomes.push(outcome),
    handle(_event, context) {
      read(context)
      return returned.promise
    },
  })
  const message = activity()
  const first = receiver.fetch(deliveryOf(message))
  await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
  returned.resolve()
  await first
  await receiver.fetch(deliveryOf(message))
  return outcomes
}

describe('a handler that returns after its signal fired', () => {
  test.each<[string, (context: WebhookHandlerContext) => unknown]>([
    ['has looked at the signal', (context) => context.signal.aborted],
    ['has destructured the signal', ({ signal: _ }) => {}],
    ['has copied the context', (context) => ({ ...context })],
    ['has serialized the context', (context) => JSON.stringify(context)],
  ])('is interrupted if it %s', async (_, read) => {
    expect(await outcomesOf(read)).toEqual(['interrupted', 'handled'])
  })

  test.each<[string, (context: WebhookHandlerContext) => unknown]>([
    ['uses no context', () => {}],
    ['reads the other fields only', ({ key, rawBody, secretIndex }) => [key, rawBody, secretIndex]],
    ['passes the context on', (context) => [context]],
  ])('is handled if it %s', async (_, read) => {
    expect(await outcomesOf(read)).toEqual(['handled', 'duplicate'])
  })

  test('is called again, even if it has finished', async () => {
    const { receiver, handled } = observedReceiver({
      maxRunMs: MAX_RUN_MS,
      handle: (_event, { signal }) => (handled.length === 1 ? fired(signal) : undefined),
    })
    const message = activity()
    const first = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
    expect((await first).headers.get('retry-after')).toBe('5')
    for (const result of ['handled', 'duplicate']) {
      expect(await (await receiver.fetch(deliveryOf(message))).json()).toEqual({ ok: true, result })
    }
    expect(handled).toHaveLength(2)
  })

  test('is recorded if it has not read the signal, even after its claim expired', async () => {
    const returned = deferred()
    const { receiver, handled, errors } = observedReceiver({ maxRunMs: MAX_RUN_MS, handle: () => returned.promise })
    const message = activity()
    void receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS + 30_001)
    returned.resolve()
    await vi.advanceTimersByTimeAsync(1)
    expect(await (await receiver.fetch(deliveryOf(message))).json()).toEqual({ ok: true, result: 'duplicate' })
    expect(handled).toHaveLength(1)
    expect(errors).toMatchObject([{ error: { code: 'run_time_exceeded' }, context: { stage: 'handle' } }])
  })

  test('leaves the claim of the receiver that took the delivery over', async () => {
    const store = memoryStore()
    const returned = deferred()
    const stale = observedReceiver({
      store: { ...store, extend: () => never },
      handle: (_event, { signal: _ }) => returned.promise,
    })
    const message = activity()
    void stale.receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(30_000)

    const running = deferred()
    const second = observedReceiver({ store, handle: () => running.promise })
    const response = second.receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(1)
    returned.resolve()
    await vi.advanceTimersByTimeAsync(1)
    const third = observedReceiver({ store })
    expect((await third.receiver.fetch(deliveryOf(message))).status).toBe(503)
    running.resolve()
    expect((await response).status).toBe(200)
    expect(second.handled).toHaveLength(1)
    expect(third.handled).toEqual([])
  })
})

describe('a handler that reads the signal', () => {
  test.each<[string, WebhookHandler, string]>([
    ['returns before the signal fires', (_event, { signal: _ }) => {}, 'handled'],
    [
      'throws DiscardEvent after the signal fired',
      async (_event, { signal }) => {
        await fired(signal)
        throw new DiscardEvent()
      },
      'discarded',
    ],
    [
      'throws the reason of the signal',
      async (_event, { signal }) => {
        await fired(signal)
        signal.throwIfAborted()
      },
      'interrupted',
    ],
  ])('and %s has the right outcome', async (_, handle, outcome) => {
    const outcomes: string[] = []
    const { receiver } = observedReceiver({
      maxRunMs: MAX_RUN_MS,
      onHandled: (handled) => outcomes.push(handled.outcome),
      handle,
    })
    const response = receiver.fetch(deliveryOf(activity()))
    await vi.advanceTimersByTimeAsync(MAX_RUN_MS)
    expect((await response).status).toBe(outcome === 'interrupted' ? 503 : 200)
    expect(outcomes).toEqual([outcome])
  })

  test('and returns after close() has released its claim is not recorded as done', async () => {
    const store = memoryStore()
    const returned = deferred()
    const { receiver } = observedReceiver({ store, handle: (_event, { signal: _ }) => returned.promise })
    const message = activity()
    const response = receiver.fetch(deliveryOf(message))
    await vi.advanceTimersByTimeAsync(0)
    const closed = receiver.close({ timeoutMs: 0 })
    await vi.advanceTimersByTimeAsync(1000)
    await closed
    expect((await response).status).toBe(503)
    returned.resolve()
    await vi.advanceTimersByTimeAsync(1)
    const next = observedReceiver({ store })
    expect(await (await next.receiver.fetch(deliveryOf(message))).json()).toEqual({ ok: true, result: 'handled' })
  })
})
