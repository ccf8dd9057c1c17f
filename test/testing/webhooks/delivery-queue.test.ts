import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { createWebhookReceiver, verifyWebhook } from 'campaign-client/webhook'
import { describe, expect, onTestFinished, test } from 'vitest'
import { emitFollow, HOOK, only, SECRET, start } from './start-service.ts'

describe('retries', () => {
  test('follow 5 s, 30 s, 1 min and 5 min after the previous attempt, then the delivery is undelivered', async () => {
    const { service, clock, received } = start(() => new Response('down', { status: 503 }))
    service.registerWebhook({ url: HOOK, secret: SECRET })
    service.emit(emitFollow)
    await clock.advance(4_999)
    expect(received.map(({ at }) => at)).toEqual([0])
    expect(only(service.deliveries)).toMatchObject({ state: 'pending', nextAttemptAt: 5_000 })
    await clock.advance(395_000 - 4_999 - 1)
    expect(received.map(({ at }) => at)).toEqual([0, 5_000, 35_000, 95_000])
    await clock.advance(1)
    expect(received.map(({ at }) => at)).toEqual([0, 5_000, 35_000, 95_000, 395_000])
    const delivery = only(service.deliveries)
    expect(delivery).toMatchObject({ state: 'undelivered', attempts: { length: 5 } })
    expect(delivery).not.toHaveProperty('nextAttemptAt')
    expect(delivery.attempts[4]).toEqual({
      ...{ at: 395_000, ok: false, durationMs: 0, status: 503, response: 'down' },
      headers: { 'content-type': 'text/plain;charset=UTF-8' },
    })
    expect(new Set(received.map(({ body, signature }) => `${body}${signature}`)).size, 'all attempts are equal').toBe(1)
    await clock.advance(3_600_000)
    expect(received).toHaveLength(5)
    expect(clock.pending).toBe(0)
  })

  test.each([
    [
      'a network error',
      () => Promise.reject(new TypeError('fetch failed', { cause: new Error('refused') })),
      { error: 'fetch failed: refused' },
    ],
    ['300', () => new Response(null, { status: 300 }), { status: 300, response: '' }],
    [
      'a thrown string',
      () => {
        throw 'not even an error'
      },
      { error: 'the delivery failed' },
    ],
  ])('follow %s and end after a success', async (_, failure: () => Response | Promise<Response>, result) => {
    const { service, clock, received } = start((_, index) => (index === 0 ? failure() : new Response('fine')))
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await clock.advance(395_000)
    expect(received.map(({ at }) => at)).toEqual([0, 5_000])
    expect(only(service.deliveries)).toMatchObject({
      state: 'delivered',
      attempts: [
        { ok: false, ...result },
        { ok: true, status: 200, response: 'fine' },
      ],
    })
  })

  test.each([200, 204, 299])('do not follow a %i', async (status) => {
    const { service } = start(() => new Response(null, { status }))
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    expect(only(service.deliveries)).toMatchObject({ state: 'delivered', attempts: [{ ok: true, status }] })
  })

  test('follow 5 s after the timeout of an endpoint that does not respond', async () => {
    const { service, clock, received } = start(
      (_, index) => (index === 0 ? new Promise<Response>(() => {}) : new Response('late')),
      {},
      0,
    )
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await clock.advance(9_999)
    expect(only(service.deliveries)).toMatchObject({ state: 'pending', attempts: [] })
    await clock.advance(1)
    await service.settle()
    expect(only(service.deliveries).attempts).toEqual([
      { at: 0, ok: false, durationMs: 10_000, error: 'no complete response within 10000 ms' },
    ])
    await clock.advance(5_000)
    await service.settle()
    expect(received.map(({ at }) => at)).toEqual([0, 15_000])
    expect(only(service.deliveries).state).toBe('delivered')
  })

  test('do not follow a 2xx with a stalled body, whose beginning is recorded', async () => {
    const stalled = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('begun')),
    })
    const long = 'x'.repeat(5_000)
    const { service, clock } = start((_, index) => new Response(index === 0 ? stalled : long), {}, 0)
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`] })
    service.emit(emitFollow)
    await clock.advance(10_000)
    await service.settle()
    expect(service.deliveries).toMatchObject([
      { state: 'delivered', attempts: [{ response: 'begun' }] },
      { state: 'delivered', attempts: [{ response: 'x'.repeat(1024) }] },
    ])
  })

  test('do not follow a 2xx with an endless body, of which 1 kB is recorded', async () => {
    const [lead = 0, trail = 0] = new TextEncoder().encode('é')
    const endless = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new Uint8Array([...new TextEncoder().encode('x'.repeat(999)), lead]))
        controller.enqueue(new Uint8Array([trail, ...new TextEncoder().encode('y'.repeat(500))]))
      },
    })
    const { service } = start(() => new Response(endless))
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    expect(only(service.deliveries).attempts).toMatchObject([{ response: `${'x'.repeat(999)}é${'y'.repeat(23)}` }])
  })

  test('of one endpoint do not delay another', async () => {
    const { service, clock, received } = start(
      ({ url }) => new Response(null, { status: url.endsWith('1') ? 503 : 200 }),
    )
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`] })
    service.emit(emitFollow)
    await clock.advance(395_000)
    expect(received.filter(({ url }) => url.endsWith('1'))).toHaveLength(5)
    expect(received.filter(({ url }) => url.endsWith('2'))).toHaveLength(1)
    expect(service.deliveries.map(({ state }) => state)).toEqual(['undelivered', 'delivered'])
  })

  test('at most 64 attempts run at once, and all messages arrive', async () => {
    let inFlight = 0
    let maxInFlight = 0
    const { service } = start(async () => {
      maxInFlight = Math.max(maxInFlight, ++inFlight)
      await new Promise((resolve) => setTimeout(resolve, 1))
      inFlight--
      return new Response()
    })
    service.registerWebhook({ url: HOOK })
    for (let index = 0; index < 300; index++) service.emit(emitFollow)
    await service.settle()
    expect(maxInFlight).toBe(64)
    expect(service.deliveries.filter(({ state }) => state === 'delivered')).toHaveLength(300)
  })

  test('do not keep the process alive while they wait', async () => {
    let released = 0
    const timers: number[] = []
    const clock = {
      now: () => 0,
      setTimeout(_: () => void, delayMs: number) {
        timers.push(delayMs)
        return { unref: () => released++ }
      },
      clearTimeout: () => {},
    }
    const { service } = start(() => new Response(null, { status: 503 }), { clock })
    service.registerWebhook({ url: HOOK })
    service.emit(emitFollow)
    await service.settle()
    expect(timers, 'the timeout of the attempt keeps the process alive, the retry does not').toEqual([10_000, 5_000])
    expect(released).toBe(1)
  })

  test('reset deletes deliveries that are queued behind 64 running deliveries', async () => {
    const { service, received } = start(() => new Promise<Response>(() => {}))
    service.registerWebhook({ url: HOOK })
    for (let index = 0; index < 70; index++) service.emit(emitFollow)
    await new Promise((resolve) => setTimeout(resolve, 0))
    service.reset()
    await service.settle()
    expect(received).toHaveLength(64)
  })

  test('a redirect of an endpoint is a failed attempt and is not followed', async () => {
    const paths: (string | undefined)[] = []
    const server = createServer((request, response) => {
      paths.push(request.url)
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const service = createCampaignService({ clock: createManualClock() })
    service.registerWebhook({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` })
    service.emit(emitFollow)
    await service.settle()
    expect(paths).toEqual(['/hook'])
    expect(only(service.deliveries)).toMatchObject({ state: 'pending', attempts: [{ ok: false, status: 307 }] })
  })
})

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
      attempts: [{ ok: false, error: 'the webhook was unregistered, or no longer has this URL' }],
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

describe('a webhook receiver', () => {
  test('gets messages over HTTP by default, until it is closed', async () => {
    const receiver = createWebhookReceiver({ endpoint: 'test', secret: SECRET, handle: () => {} })
    const server = createServer(receiver.node)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
    const clock = createManualClock()
    const service = createCampaignService({ clock })
    service.registerWebhook({ url, secret: SECRET })
    service.emit(emitFollow)
    await service.settle()
    expect(only(service.deliveries)).toMatchObject({ state: 'delivered', attempts: [{ status: 200 }] })

    await receiver.close()
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
    service.emit(emitFollow)
    await service.settle()
    expect(service.deliveries[1]?.attempts).toMatchObject([
      { ok: false, error: 'fetch failed: ECONNREFUSED', code: 'ECONNREFUSED' },
    ])
  })
})
