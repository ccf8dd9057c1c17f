import { verifyWebhook } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { emitFollow, HOOK, only, SECRET, start } from './start-service.ts'

describe('redeliver', () => {
  test('sends the same message as a new delivery', async () => {
    const { service, clock, received } = start()
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`], secret: SECRET })
    const message = service.emit(emitFollow)
    await service.settle()
    await clock.advance(60_000)
    const first = service.deliveries[1]
    const again = service.redeliver(first?.deliveryId ?? '')
    expect(again).toMatchObject({ id: message.id, state: 'pending', redeliveryOf: first?.deliveryId, at: 60_000 })
    await service.settle()
    expect(received).toHaveLength(3)
    expect(received[2]).toMatchObject({ url: `${HOOK}/2`, body: message.body, signature: received[1]?.signature })
    expect(service.deliveries).toHaveLength(3)
    expect(service.deliveries[1], 'the first delivery is unchanged').toEqual(first)
    expect(service.deliveries[2]).toMatchObject({ deliveryId: again.deliveryId, state: 'delivered' })
    expect(new Set(service.deliveries.map(({ deliveryId }) => deliveryId)).size).toBe(3)
  })

  test('attempts an undelivered message up to five more times', async () => {
    const { service, clock, received } = start((_, index) => new Response(null, { status: index < 9 ? 503 : 200 }))
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await clock.advance(395_000)
    const { deliveryId, state } = only(service.deliveries)
    expect(state).toBe('undelivered')
    service.redeliver(deliveryId)
    await clock.advance(395_000)
    expect(received).toHaveLength(10)
    expect(service.deliveries.map((delivery) => delivery.state)).toEqual(['undelivered', 'delivered'])
  })

  test('sends a pending message a second time', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    service.redeliver(only(service.deliveries).deliveryId)
    await service.settle()
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
    expect(received).toHaveLength(2)
  })

  test('signs with the current secret of the webhook', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: HOOK, secret: SECRET, hook_id: 'h' })
    const { body } = service.emit(emitFollow)
    await service.settle()
    service.registerWebhook({ url: HOOK, secret: 'the next secret', hook_id: 'h' })
    service.redeliver(only(service.deliveries).deliveryId)
    await service.settle()
    expect(verifyWebhook('the next secret', body, received[1]?.signature)).toBe(true)
  })

  test('refuses an unknown delivery and a removed URL or webhook', async () => {
    const { service } = start()
    expect(() => service.redeliver('nothing')).toThrow('redeliver: deliveryId: there is no delivery "nothing"')
    service.registerWebhook({ url: HOOK, hook_id: 'h' })
    service.emit(emitFollow)
    await service.settle()
    const { deliveryId } = only(service.deliveries)
    const refused = `redeliver: deliveryId: the webhook "h" no longer has ${HOOK}`
    service.registerWebhook({ url: `${HOOK}/new`, hook_id: 'h' })
    expect(() => service.redeliver(deliveryId)).toThrow(refused)
    service.unregisterWebhook('h')
    expect(() => service.redeliver(deliveryId)).toThrow(refused)
    expect(service.deliveries).toHaveLength(1)
  })
})
