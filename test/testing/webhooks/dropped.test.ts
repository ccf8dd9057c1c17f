import { describe, expect, test } from 'vitest'
import { emitFollow, HOOK, only, start } from './start-service.ts'

describe('unregistering a webhook', () => {
  test('drops a delivery that waits for a retry', async () => {
    const { service, clock, received } = start(() => new Response('down', { status: 503 }))
    service.registerWebhook({ url: HOOK, hook_id: 'h' })
    service.emit(emitFollow)
    await service.settle()
    service.unregisterWebhook('h')
    expect(only(service.deliveries)).toMatchObject({ state: 'dropped', attempts: [{ status: 503 }] })
    expect(only(service.deliveries)).not.toHaveProperty('nextAttemptAt')
    expect(service.nextRetryAt).toBeUndefined()
    await clock.advance(3_600_000)
    expect(received).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  test('aborts the running attempt and reports the reason', async () => {
    const signals: AbortSignal[] = []
    const { service, clock } = start((request) => {
      signals.push(request.signal)
      return new Promise<Response>(() => {})
    })
    service.registerWebhook({ url: HOOK, hook_id: 'h' })
    service.emit(emitFollow)
    await new Promise((resolve) => setTimeout(resolve, 0))
    service.unregisterWebhook('h')
    await service.settle()
    expect(only(service.deliveries)).toMatchObject({
      state: 'dropped',
      attempts: [{ ok: false, error: 'the webhook was unregistered' }],
    })
    expect(only(service.deliveries)).not.toHaveProperty('nextAttemptAt')
    expect(clock.pending).toBe(0)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await clock.advance(3_600_000)
    expect(signals).toHaveLength(1)
  })

  test('drops deliveries that are queued behind 64 running deliveries', async () => {
    const { service, received } = start(() => new Promise<Response>(() => {}))
    service.registerWebhook({ url: HOOK, hook_id: 'h' })
    for (let index = 0; index < 70; index++) service.emit(emitFollow)
    await new Promise((resolve) => setTimeout(resolve, 0))
    service.unregisterWebhook('h')
    await service.settle()
    expect(received).toHaveLength(64)
    expect(service.deliveries.every(({ state }) => state === 'dropped')).toBe(true)
    expect(service.deliveries.filter(({ attempts }) => attempts.length === 0)).toHaveLength(6)
  })

  test('does not change delivered messages or other webhooks', async () => {
    const { service, clock, received } = start((_, index) => new Response(null, { status: index === 1 ? 503 : 200 }))
    service.registerWebhook({ url: `${HOOK}/1`, hook_id: 'a' })
    service.registerWebhook({ url: `${HOOK}/2`, hook_id: 'b' })
    service.emit(emitFollow)
    await service.settle()
    service.unregisterWebhook('a')
    await clock.advance(5_000)
    expect(service.deliveries.map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    expect(received.map(({ url }) => url)).toEqual([`${HOOK}/1`, `${HOOK}/2`, `${HOOK}/2`])
  })

  test('or removing one of its endpoints drops the deliveries to that endpoint', async () => {
    const { service, clock, received } = start((_, index) => new Response(null, { status: index < 2 ? 503 : 200 }))
    service.registerWebhook({ url: [`${HOOK}/old`, `${HOOK}/kept`], hook_id: 'h' })
    service.emit(emitFollow)
    await service.settle()
    service.registerWebhook({ url: [`${HOOK}/kept`, `${HOOK}/new`], hook_id: 'h' })
    await clock.advance(5_000)
    expect(service.deliveries.map(({ url, state }) => [url, state])).toEqual([
      [`${HOOK}/old`, 'dropped'],
      [`${HOOK}/kept`, 'delivered'],
    ])
    expect(received).toHaveLength(3)
  })
})

test('a response that arrives before the webhook is unregistered ends the delivery', async () => {
  let respond: (response: Response) => void = () => {}
  const { service } = start(() => new Promise<Response>((resolve) => (respond = resolve)))
  service.registerWebhook({ url: HOOK, hook_id: 'h' })
  service.emit(emitFollow)
  await new Promise((resolve) => setTimeout(resolve, 0))
  respond(new Response(null, { status: 200 }))
  await service.settle()
  service.unregisterWebhook('h')
  expect(only(service.deliveries)).toMatchObject({ state: 'delivered', attempts: [{ ok: true }] })
})
