import { ConfigurationError } from 'campaign-client'
import {
  type CampaignService,
  createCampaignService,
  createManualClock,
  type StatusFault,
} from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller } from '../rest.ts'

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

  test('are removed by cancel, whose second call does nothing', async () => {
    const service = createCampaignService()
    const fault = service.fail({ kind: 'status', times: Infinity })
    expect(await statusOf(service, '/campaign/info?pid=demo')).toBe(500)
    expect(fault.remaining).toBe(Infinity)
    fault.cancel()
    fault.cancel()
    expect(fault.remaining).toBe(0)
    expect(await statusOf(service, '/campaign/info?pid=demo')).toBe(200)
  })

  test('are returned by pendingFaults until they are used up', async () => {
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
    always.cancel()
    expect(service.faults).toEqual([])
  })

  test('do not change if their options object changes', () => {
    const service = createCampaignService()
    const options = { kind: 'status', status: 503 } as const
    const fault = service.fail(options)
    Object.assign(options, { status: 200 })
    expect(fault.options).toEqual({ kind: 'status', status: 503 })
  })

  test('do not change if their headers or body change, or if a listener changes them', () => {
    const service = createCampaignService()
    service.subscribe((event) => {
      if (event.kind !== 'fault_changed') return
      Object.assign((event.fault.options as StatusFault).headers ?? {}, { 'retry-after': '3' })
    })
    const headers = { 'retry-after': '1' }
    const body = { errors: ['a'] }
    const fault = service.fail({ kind: 'status', times: Infinity, on: undefined, headers, body })
    headers['retry-after'] = '2'
    body.errors.push('b')
    expect(fault.options).toStrictEqual({
      kind: 'status',
      times: Infinity,
      headers: { 'retry-after': '1' },
      body: { errors: ['a'] },
    })
  })

  test('are removed by reset', async () => {
    const service = createCampaignService()
    const fault = service.fail({ kind: 'status', times: 5 })
    service.reset()
    expect(fault.remaining).toBe(0)
    expect(await statusOf(service, '/campaign/info?pid=demo')).toBe(200)
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
    [{}, /^fail: kind must be 'status'/],
    [{ kind: 'reset', on: 'everything' }, /^fail of kind reset: on must be '\*' or 'getUserProgress' or/],
    [{ kind: 'reset', on: 'toString' }, /^fail of kind reset: on must be/],
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
