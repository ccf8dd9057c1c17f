import { ConfigurationError } from 'campaign-client'
import {
  type CampaignService,
  createCampaignService,
  createManualClock,
  type ManualClock,
  type StatusFault,
} from 'campaign-client/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BASE_URL, type Caller, caller, ok, refused } from '../rest.ts'

const WALLET = `0x${'1'.repeat(40)}`
const reward = (id: string) => ({ address: WALLET, pid: 'demo', id, xp: 1 })

const nextTurn = () => new Promise((resolve) => setTimeout(resolve, 0))

/** Matches the error of fetch for a closed connection. */
const lost = (message: string, code: string) =>
  expect.objectContaining({ name: 'TypeError', message, cause: expect.objectContaining({ code }) })

describe.each(['fetch', 'listen'] as const)('over %s, the fault', (way) => {
  let service: CampaignService
  let clock: ManualClock
  let calls: Caller
  let close: () => Promise<void>

  beforeEach(async () => {
    clock = createManualClock({ startMs: 0 })
    service = createCampaignService({ clock })
    if (way === 'fetch') {
      calls = caller(service.fetch, { baseUrl: BASE_URL })
      close = async () => {}
    } else {
      const server = await service.listen()
      calls = caller(globalThis.fetch, { baseUrl: server.url })
      close = server.close
    }
  })
  afterEach(() => close())

  /** Fires each timer of the service until the call ends. Returns the time that has passed. */
  const elapsed = async (call: Promise<unknown>): Promise<number> => {
    const before = clock.now()
    let isDone = false
    const done = call.finally(() => {
      isDone = true
    })
    while (!isDone) {
      if (clock.pending > 0) await clock.advance(1_000)
      else await nextTurn()
    }
    await done
    return clock.now() - before
  }

  const code = (init?: RequestInit) => calls.get('/code', { code: 'UNUSED-2026', pid: 'demo' }, init)

  test('status responds with the standard envelope and applies nothing', async () => {
    service.fail({ on: 'rewardWallet', kind: 'status' })
    expect(await calls.post('/wallet/reward', reward('r'))).toMatchObject(refused(500))
    expect(service.state.awards).toEqual([])
    expect(await calls.post('/wallet/reward', reward('r'))).toMatchObject(ok())
  })

  test('status responds with the given status, headers and body', async () => {
    service.fail({ kind: 'status', status: 429, headers: { 'Retry-After': '2' }, body: { slow: 'down' } })
    service.fail({ kind: 'status', status: 502, body: '<h1>Bad gateway</h1>' })
    const limited = await code()
    expect(limited).toMatchObject({ status: 429, body: { slow: 'down' } })
    expect(limited.headers.get('retry-after')).toBe('2')
    const gateway = await code()
    expect(gateway).toMatchObject({ status: 502, body: '<h1>Bad gateway</h1>' })
  })

  test.each([204, 205, 304])('status %i has no body', async (status) => {
    service.fail({ kind: 'status', status, body: 'ignored' })
    expect(await code()).toMatchObject({ status, body: '' })
  })

  test('reset closes the connection and applies nothing', async () => {
    service.fail({ on: 'rewardWallet', kind: 'reset' })
    await expect(calls.post('/wallet/reward', reward('r'))).rejects.toEqual(lost('fetch failed', 'ECONNRESET'))
    expect(service.state.awards).toEqual([])
    expect(service.requests).toMatchObject([{ operation: 'rewardWallet', handled: false, fault: 'reset' }])
    expect(service.requests[0]).not.toHaveProperty('status')
  })

  test('applied_then_reset applies the write and closes the connection', async () => {
    service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
    await expect(calls.post('/wallet/reward', reward('r'))).rejects.toEqual(lost('fetch failed', 'ECONNRESET'))
    expect(service.state.awards).toMatchObject([{ id: 'r' }])
    expect(service.requests).toMatchObject([{ handled: true, fault: 'applied_then_reset' }])
    expect(await calls.post('/wallet/reward', reward('r'))).toMatchObject(refused(400))
  })

  test.each(['status', 'reset', 'hang', 'garbage'] as const)(
    '%s with `applied` applies the write first',
    async (kind) => {
      service.fail({ kind, applied: true })
      const controller = new AbortController()
      const call = calls.post('/wallet/reward', reward('r'), { signal: controller.signal }).catch(() => {})
      await expect.poll(() => service.requests).toHaveLength(1)
      controller.abort()
      await call
      expect(service.state.awards).toMatchObject([{ id: 'r' }])
    },
  )

  test('hang does not respond until the caller aborts', async () => {
    service.fail({ kind: 'hang' })
    const controller = new AbortController()
    const reason = new Error('enough')
    const call = code({ signal: controller.signal })
    call.catch(() => {})
    await expect.poll(() => service.requests).toHaveLength(1)
    await code()
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    expect(service.requests).toMatchObject([{ handled: false, fault: 'hang' }, { status: 200 }])
  })

  test('garbage responds with 200 and HTML', async () => {
    service.fail({ kind: 'garbage' })
    const response = await code()
    expect(response.status).toBe(200)
    expect(response.body).toMatch(/^<!doctype html>/)
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    service.fail({ kind: 'garbage', body: '{"success":tru' })
    expect(await code()).toMatchObject({ status: 200, body: '{"success":tru' })
  })

  test('truncate sends half of the response and closes the connection', async () => {
    service.fail({ kind: 'truncate' })
    const response = await calls.raw('/campaign/info?pid=demo', { headers: { authorization: 'Bearer t' } })
    expect(response.status).toBe(200)
    const length = Number(response.headers.get('content-length') ?? Number.NaN)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let received = 0
    const drain = async (): Promise<void> => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) received += part.value.length
    }
    await expect(drain()).rejects.toThrow('terminated')
    expect(received).toBe(Math.floor(length / 2))
  })

  test('stall sends half of the response, then nothing until the caller aborts', async () => {
    service.fail({ kind: 'stall' })
    const controller = new AbortController()
    const init = { headers: { authorization: 'Bearer t' }, signal: controller.signal }
    const response = await calls.raw('/campaign/info?pid=demo', init)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = await reader.read()
    expect(first.value?.length).toBe(Math.floor(Number(response.headers.get('content-length')) / 2))
    const reason = new Error('enough')
    const rest = reader.read()
    rest.catch(() => {})
    await code()
    controller.abort(reason)
    await expect(rest).rejects.toBe(reason)
  })

  test('drip or delay sends the complete response, on the clock of the service', async () => {
    const response = ok({ used_by: [] })
    expect(await elapsed(code())).toBe(0)
    for (const [kind, waits] of [
      ['drip', JSON.stringify(response.body).length - 1],
      ['delay', 1],
    ] as const) {
      service.fail({ kind, delayMs: 1_000 })
      const call = code()
      expect(await elapsed(call)).toBe(waits * 1_000)
      expect(await call).toMatchObject(response)
    }
    expect(service.requests).toMatchObject([
      { status: 200 },
      { fault: 'drip', status: 200 },
      { fault: 'delay', status: 200 },
    ])
  })

  test.each(['drip', 'delay'] as const)('%s ends when the caller aborts', async (kind) => {
    service.fail({ kind })
    const controller = new AbortController()
    const call = code({ signal: controller.signal })
    call.catch(() => {})
    await expect.poll(() => clock.pending).toBeGreaterThan(0)
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await expect.poll(() => clock.pending).toBe(0)
  })

  test('misshapen applies the write and responds with the wrong fields', async () => {
    service.fail({ kind: 'misshapen', times: 2 })
    expect(await code()).toMatchObject(ok('data of the wrong type'))
    expect(await calls.post('/wallet/reward', reward('r'))).toMatchObject({
      status: 200,
      body: { result: 'no envelope' },
    })
    expect(service.state.awards).toHaveLength(1)
  })

  test('affects unauthorized requests, but `applied` does not authorize them', async () => {
    service.fail({ kind: 'applied_then_reset' })
    const body = JSON.stringify(reward('r'))
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    await expect(calls.raw('/wallet/reward', init)).rejects.toThrow('fetch failed')
    expect(service.state.awards).toEqual([])
    expect(service.requests).toMatchObject([{ authorized: false, handled: true }])
  })
})

describe('faults', () => {
  const statusOf = async (service: CampaignService, path: string) =>
    (await caller(service.fetch).raw(path, { headers: { authorization: 'Bearer t' } })).status

  test('are used in order by the requests that match', async () => {
    const service = createCampaignService()
    const info = '/campaign/info?pid=demo'
    const points = '/campaign/points?pid=demo'
    const first = service.fail({ on: 'getCampaignInfo', kind: 'status', status: 501, times: 2 })
    const second = service.fail({ kind: 'status', status: 502 })
    expect([first.remaining, second.remaining]).toEqual([2, 1])
    expect(await statusOf(service, points)).toBe(502)
    expect(await statusOf(service, points)).toBe(200)
    expect(await statusOf(service, info)).toBe(501)
    expect(first.remaining).toBe(1)
    expect(await statusOf(service, info)).toBe(501)
    expect(await statusOf(service, info)).toBe(200)
    expect([first.remaining, second.remaining]).toEqual([0, 0])
  })

  test('are returned by pendingFaults until they are used up, and end when they are cancelled', async () => {
    const service = createCampaignService()
    expect(service.pendingFaults()).toEqual([])
    const options = { on: 'getCampaignInfo', kind: 'status', times: 2 } as const
    const twice = service.fail(options)
    const always = service.fail({ on: 'getCampaignPoints', kind: 'status', times: Infinity })
    expect(twice.id).not.toBe(always.id)
    expect(service.pendingFaults()).toEqual([twice, always])
    expect(twice).toMatchObject({ options, used: 0, remaining: 2 })

    await statusOf(service, '/campaign/points?pid=demo')
    await statusOf(service, '/campaign/info?pid=demo')
    expect(service.pendingFaults().map(({ id, used, remaining }) => [id, used, remaining])).toEqual([[twice.id, 1, 1]])
    expect(service.faults.map(({ id }) => id)).toEqual([twice.id, always.id])
    await statusOf(service, '/campaign/info?pid=demo')
    expect([twice.used, twice.remaining]).toEqual([2, 0])
    expect(service.pendingFaults()).toEqual([])
    expect(service.faults, 'the infinite fault remains').toEqual([always])
    expect(always.remaining).toBe(Infinity)
    always.cancel()
    expect(service.faults).toEqual([])
    expect(await statusOf(service, '/campaign/points?pid=demo')).toBe(200)
  })

  test('do not change if their options, headers or body change, or if a listener changes them', () => {
    const service = createCampaignService()
    service.subscribe((event) => {
      if (event.kind !== 'fault_changed') return
      Object.assign((event.fault.options as StatusFault).headers ?? {}, { 'retry-after': '3' })
    })
    const headers = { 'retry-after': '1' }
    const body = { errors: ['a'] }
    const options = { kind: 'status', times: Infinity, on: undefined, headers, body } as const
    const fault = service.fail(options)
    headers['retry-after'] = '2'
    body.errors.push('b')
    Object.assign(options, { status: 200 })
    expect(fault.options).toStrictEqual({
      kind: 'status',
      times: Infinity,
      headers: { 'retry-after': '1' },
      body: { errors: ['a'] },
    })
  })

  test('with `*` match an unknown path', async () => {
    const service = createCampaignService()
    service.fail({ on: '*', kind: 'status', status: 503 })
    expect(await statusOf(service, '/nothing')).toBe(503)
  })

  test('delay waits 100 ms by default', async () => {
    const clock = createManualClock()
    const service = createCampaignService({ clock })
    service.fail({ kind: 'delay' })
    const call = statusOf(service, '/campaign/info?pid=demo')
    await clock.advance(99)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    expect(await call).toBe(200)
  })

  test('drip sends the response byte by byte, with 100 ms between bytes by default', async () => {
    const clock = createManualClock()
    const service = createCampaignService({ clock })
    service.fail({ kind: 'drip' })
    const { body } = await caller(service.fetch).raw('/code')
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    expect((await reader.read()).value).toHaveLength(1)
    const second = reader.read()
    await clock.advance(99)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    expect((await second).value).toHaveLength(1)
  })

  test('misshapen responds with 200 even when the service refuses the request', async () => {
    const service = createCampaignService()
    service.fail({ kind: 'misshapen', times: 2 })
    expect(await statusOf(service, '/campaign/info?pid=unknown')).toBe(200)
    expect(await statusOf(service, '/nothing')).toBe(200)
  })

  test.each([
    [{ body: 'a < b' }, 'text/plain; charset=utf-8'],
    [{ body: '\n <h1>Down</h1>' }, 'text/html; charset=utf-8'],
    [{ body: { a: 1 } }, 'application/json; charset=utf-8'],
    [{ body: 'a: 1', headers: { 'Content-Type': 'text/yaml' } }, 'text/yaml'],
  ])('status with %j has the content type %s', async (options, type) => {
    const service = createCampaignService()
    service.fail({ kind: 'status', ...options })
    expect((await caller(service.fetch).raw('/code')).headers.get('content-type')).toBe(type)
  })

  test.each([{ kind: 'hang' } as const, { kind: 'delay', delayMs: 600_000 } as const])(
    'a call that is aborted before the response rejects: %j',
    async (fault) => {
      const service = createCampaignService()
      const controller = new AbortController()
      const reason = new Error('enough')
      service.fail(fault)
      service.subscribe(() => controller.abort(reason))
      await expect(caller(service.fetch).raw('/code', { signal: controller.signal })).rejects.toBe(reason)
    },
  )

  test.each([
    [{ kind: 'explode' }, /^fail: kind must be 'status' or 'reset' or 'hang'/],
    [{ kind: 'reset', on: 'everything' }, /^fail of kind reset: on must be '\*' or 'getUserProgress' or/],
    [{ kind: 'reset', times: 0 }, /^fail of kind reset: times must be/],
    [{ kind: 'reset', times: 1.5 }, /^fail of kind reset: times must be/],
    [{ kind: 'status', status: 199 }, /^fail of kind status: status must be/],
    [{ kind: 'status', status: 600 }, /^fail of kind status: status must be/],
    [{ kind: 'status', status: '500' }, /^fail of kind status: status must be/],
    [{ kind: 'status', body: () => {} }, /^fail of kind status: body must be/],
    [{ kind: 'status', headers: { 'bad name': 'x' } }, /^fail of kind status: headers must be .*bad name/],
    [{ kind: 'garbage', body: {} }, /^fail of kind garbage: body: expected string, received object/],
    [{ kind: 'delay', delayMs: -1 }, /^fail of kind delay: delayMs must be/],
    [{ kind: 'drip', delayMs: Number.NaN }, /^fail of kind drip: delayMs must be/],
  ])('%j is refused', (options, message) => {
    const service = createCampaignService()
    expect(() => service.fail(options as never)).toThrow(ConfigurationError)
    expect(() => service.fail(options as never)).toThrow(message)
  })
})
