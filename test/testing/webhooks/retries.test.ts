import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCampaignService, createManualClock } from 'campaign-client/testing'
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
    ['500', () => new Response(null, { status: 500 }), { status: 500, response: '' }],
    ['401', () => new Response('who?', { status: 401 }), { status: 401, response: 'who?' }],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: HOOK } }), { status: 302 }],
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

  test.each([200, 201, 204, 299])('do not follow a %i', async (status) => {
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
