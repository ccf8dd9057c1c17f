import type { CampaignServiceOptions, DeliveryFaultOptions } from 'campaign-client/testing'
import { createWebhookReceiver } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { ada, emitFollow, HOOK, only, SECRET, start } from './start-service.ts'

/** Starts a service whose messages go to a real receiver. */
function startWithReceiver(options?: CampaignServiceOptions) {
  const handled: string[] = []
  const rejected: string[] = []
  const unknown: unknown[] = []
  const receiver = createWebhookReceiver({
    endpoint: 'test',
    secret: SECRET,
    handle: (event) => {
      handled.push(event.id)
      if (event.kind === 'unknown') unknown.push(event.payload)
    },
    onReject: ({ reason }) => void rejected.push(reason),
    onError: () => {},
  })
  const started = start((request) => receiver.fetch(request), options)
  started.service.registerWebhook({ url: HOOK, secret: SECRET })
  const fail = (fault: Omit<DeliveryFaultOptions, 'on'> & { field?: string; delayMs?: number }) =>
    started.service.fail({ on: 'delivery', ...fault } as DeliveryFaultOptions)
  return { ...started, fail, handled, rejected, unknown }
}

describe('a delivery fault', () => {
  test('duplicate sends the message again after the first response, and the receiver handles it once', async () => {
    const { service, fail, received, handled } = startWithReceiver()
    fail({ kind: 'duplicate' })
    const { id } = service.emit(emitFollow)
    await service.settle()
    expect(received.map(({ body, signature }) => [body, signature])).toEqual(
      Array(2).fill([received[0]?.body, received[0]?.signature]),
    )
    expect(handled).toEqual([id])
    const { state, attempts } = only(service.deliveries)
    expect({ state, attempts }).toMatchObject({
      state: 'delivered',
      attempts: [{ ok: true, status: 200, fault: 'duplicate', copy: { ok: true, status: 200 } }],
    })
    expect(service.pendingFaults()).toEqual([])
  })

  test('duplicate sends nothing again when the first message got no response', async () => {
    const { service, received } = start(() => {
      throw new Error('connect ECONNREFUSED')
    })
    service.registerWebhook({ url: HOOK })
    service.fail({ on: 'delivery', kind: 'duplicate' })
    service.emit(emitFollow)
    await service.settle()
    expect(received).toHaveLength(1)
    expect(only(service.deliveries).attempts[0]).not.toHaveProperty('copy')
  })

  test('bad_signature is refused by the receiver, and the retry is right', async () => {
    const { service, clock, fail, rejected, handled } = startWithReceiver()
    fail({ kind: 'bad_signature' })
    const { id } = service.emit(emitFollow)
    await service.settle()
    expect([rejected, handled]).toEqual([['signature_mismatch'], []])
    await clock.advance(5000)
    expect(handled).toEqual([id])
    expect(only(service.deliveries).attempts).toMatchObject([{ status: 401, fault: 'bad_signature' }, { status: 200 }])
    expect(only(service.deliveries).attempts[1]).not.toHaveProperty('fault')
  })

  test('bad_signature signs the message of a webhook without a secret', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: HOOK })
    service.fail({ on: 'delivery', kind: 'bad_signature' })
    service.emit(emitFollow)
    await service.settle()
    expect(received[0]?.signature).toMatch(/^[0-9a-f]{64}/)
  })

  test('missing_field sends a signed message without the field; the record keeps the whole message', async () => {
    const { service, fail, received, unknown } = startWithReceiver()
    fail({ kind: 'missing_field', field: 'campaign.id' })
    service.emit(emitFollow)
    await service.settle()
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ campaign: { name: 'Demo campaign' } })
    expect(JSON.parse(received[0]?.body ?? '').campaign).not.toHaveProperty('id')
    // The signature is right: the receiver reads the message, and does not know its kind.
    expect(unknown).toHaveLength(1)
    expect(JSON.parse(only(service.deliveries).body)).toMatchObject({ campaign: { id: 'demo' } })
  })

  test.each(['event.data.no_such_field', '__proto__.toString', 'event.__proto__.toString'])(
    'missing_field affects only messages that have the field, not inherited fields: %s',
    async (field) => {
      const { service, fail, received } = startWithReceiver()
      const fault = fail({ kind: 'missing_field', field })
      service.emit(emitFollow)
      await service.settle()
      expect([fault.used, service.pendingFaults().length, received.length]).toEqual([0, 1, 1])
      expect({}.toString()).toBe('[object Object]')
    },
  )

  test('delay sends the message late, on the clock of the service', async () => {
    const { service, clock, fail, received } = startWithReceiver()
    fail({ kind: 'delay', delayMs: 60_000 })
    service.emit(emitFollow)
    await service.settle()
    expect([received.length, service.nextRetryAt]).toEqual([0, 60_000])
    expect(only(service.deliveries)).toMatchObject({ state: 'pending', attempts: [], nextAttemptAt: 60_000 })
    await clock.advance(59_999)
    expect(received).toHaveLength(0)
    await clock.advance(1)
    expect(only(service.deliveries)).toMatchObject({ state: 'delivered', attempts: [{ at: 60_000, fault: 'delay' }] })
  })

  test('reorder sends the message after the next message to the same URL', async () => {
    const { service, clock, fail, handled } = startWithReceiver()
    fail({ kind: 'reorder' })
    const first = service.emit(emitFollow)
    await service.settle()
    expect(handled).toEqual([])
    const second = service.emit({ ...emitFollow, aid: 'share' })
    await service.settle()
    expect(handled).toEqual([second.id, first.id])
    expect(service.deliveries.map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    await clock.advance(5000)
    expect(handled).toHaveLength(2)
  })

  test('reorder sends the message after 5 s when there is no other message to the URL', async () => {
    const { service, clock, fail, handled } = startWithReceiver()
    service.registerWebhook({ url: 'https://partner.example/other', scope: 'other' })
    fail({ kind: 'reorder' })
    const { id } = service.emit(emitFollow)
    service.emit({ kind: 'custom', payload: { scope: 'other' } })
    await clock.advance(4999)
    expect(handled).toEqual([])
    await clock.advance(1)
    expect(handled).toEqual([id])
  })

  test('reorder of every message swaps each message with the next', async () => {
    const { service, fail, handled } = startWithReceiver()
    const fault = fail({ kind: 'reorder', times: Number.POSITIVE_INFINITY })
    const ids: string[] = []
    for (let number = 1; number <= 4; number++) {
      ids.push(service.emit(emitFollow).id)
      await service.settle()
    }
    expect(handled.map((id) => ids.indexOf(id))).toEqual([1, 0, 3, 2])
    expect(fault.used).toBe(2)
  })

  test('of some scope or type affects only these messages', async () => {
    const { service, fail } = startWithReceiver()
    const others = [fail({ kind: 'delay', scope: 'another' }), fail({ kind: 'delay', type: 'quest_completed' })]
    const fault = fail({ kind: 'bad_signature', scope: 'user_activity', type: 'action_completed' })
    service.emit(emitFollow)
    await service.settle()
    expect([fault.used, ...others.map(({ used }) => used)]).toEqual([1, 0, 0])
  })

  test('counts attempts, not messages', async () => {
    const { service, clock, fail, rejected, handled } = startWithReceiver()
    fail({ kind: 'bad_signature', times: 2 })
    service.emit(emitFollow)
    await clock.advance(395_000)
    expect([rejected.length, handled.length]).toEqual([2, 1])
    expect(only(service.deliveries).attempts).toHaveLength(3)
  })

  test('does not affect requests, and a fault of any request does not affect deliveries', async () => {
    const { service, get } = startWithReceiver()
    service.fail({ on: 'delivery', kind: 'delay' })
    service.fail({ on: '*', kind: 'status', status: 503 })
    expect((await get('/user/progress', ada)).status).toBe(503)
    expect(service.pendingFaults()).toMatchObject([{ options: { on: 'delivery' } }])
  })

  test.each([
    [{ kind: 'status' }, /^fail on delivery: kind must be 'delay' or 'duplicate'/],
    [{ kind: 'missing_field' }, /^fail on delivery of kind missing_field: field/],
    [{ kind: 'delay', delayMs: -1 }, /^fail on delivery of kind delay: delayMs/],
  ])('with %j is refused', (options, message) => {
    const { service } = start()
    expect(() => service.fail({ on: 'delivery', ...options } as never)).toThrow(message)
  })

  test('is cancelled with a message that it holds when the service is reset or the webhook removed', async () => {
    for (const end of ['reset', 'unregister'] as const) {
      const { service, clock, fail, received } = startWithReceiver()
      fail({ kind: 'reorder' })
      service.emit(emitFollow)
      if (end === 'reset') service.reset()
      else service.unregisterWebhook(service.webhooks[0]?.hook_id ?? '')
      await clock.advance(10_000)
      expect([end, received.length]).toEqual([end, 0])
    }
  })

  test('reorder after a reset is not ended by a delivery from before it', async () => {
    const { service, clock, received } = start(() => new Promise<Response>(() => {}))
    service.registerWebhook({ url: HOOK })
    // Two, because the first message after the reset has the id of the first one again.
    service.emit(emitFollow)
    service.emit(emitFollow)
    await expect.poll(() => received.length).toBe(2)
    service.reset()
    service.registerWebhook({ url: HOOK })
    service.fail({ on: 'delivery', kind: 'reorder' })
    service.emit(emitFollow)
    await clock.advance(4999)
    expect(received).toHaveLength(2)
    await clock.advance(1)
    expect(received).toHaveLength(3)
  })
})
