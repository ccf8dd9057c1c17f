import { DiscardEvent, memoryStore, type WebhookHandler, type WebhookHandlerContext } from 'campaign-client/webhook'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { activity, deliveryOf } from '../signed-message.ts'
import { deferred, observedReceiver } from './observed-receiver.ts'

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
