import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller } from './rest.ts'
import { emitFollow, HOOK, start } from './webhooks/start-service.ts'

describe('the log of requests', () => {
  test('keeps the latest 10 000 requests and counts the discarded ones', async () => {
    const service = createCampaignService()
    const { raw } = caller(service.fetch)
    for (let index = 0; index < 10_003; index++) await raw(`/x/${index}`)
    expect(service.requests).toHaveLength(10_000)
    expect(service.requests[0]?.path).toBe('/api/v1/x/3')
    expect(service.discarded).toEqual({ requests: 3, deliveries: 0 })
    service.reset()
    expect(service.discarded).toEqual({ requests: 0, deliveries: 0 })
  })

  test('keeps at most 50 MB', async () => {
    const service = createCampaignService()
    const { raw } = caller(service.fetch)
    const body = JSON.stringify({ name: 'x'.repeat(260_000) })
    for (let index = 0; index < 220; index++) await raw('/user', { method: 'POST', body })
    const { requests, discarded } = service
    const kept = requests.map(({ bodyText = '' }) => bodyText.length).reduce((sum, length) => sum + length, 0)
    expect(kept).toBeGreaterThan(45_000_000)
    expect(kept).toBeLessThan(50_000_000)
    expect(requests.at(-1)).toMatchObject({ id: 220, bodySize: body.length })
    expect(requests.length + discarded.requests).toBe(220)
    expect(requests[0]?.id).toBe(discarded.requests + 1)
  })

  test('does not count discarded requests towards its size', async () => {
    const service = createCampaignService()
    const { raw } = caller(service.fetch)
    const body = 'x'.repeat(260_000)
    for (let index = 0; index < 250; index++) await raw('/user', { method: 'POST', body })
    for (let index = 0; index < 300; index++) await raw('/x')
    const before = service.discarded.requests
    service.reset()
    for (let index = 0; index < 190; index++) await raw('/user', { method: 'POST', body })
    expect(before).toBeGreaterThan(50)
    expect(before).toBeLessThan(70)
    expect(service.requests).toHaveLength(190)
  })
})

test('the latest 10 000 ended deliveries and all pending deliveries are kept', async () => {
  const { service } = start((_request, index) => new Response(null, { status: index === 0 ? 503 : 200 }))
  service.registerWebhook({ url: HOOK })
  const pending = service.emit(emitFollow)
  await service.settle()
  const first = service.emit(emitFollow)
  await service.settle()
  for (let index = 0; index < 10_000; index++) service.emit(emitFollow)
  await service.settle()
  expect(service.deliveries).toHaveLength(10_001)
  expect(service.deliveries[0]).toMatchObject({ id: pending.id, state: 'pending' })
  expect(service.deliveries.some(({ id }) => id === first.id)).toBe(false)
})

test('ended deliveries above 50 MB of payloads are discarded and counted', async () => {
  const { service } = start()
  service.registerWebhook({ url: HOOK })
  const send = async (length: number) => {
    service.emit({ kind: 'custom', payload: { text: 'x'.repeat(length) } })
    await service.settle()
  }
  for (let index = 0; index < 60; index++) await send(1_000_000)
  expect(service.deliveries).toHaveLength(49)
  expect(service.discarded).toEqual({ requests: 0, deliveries: 11 })
  for (let index = 0; index < 100; index++) await send(10_000)
  const { deliveries } = service
  expect(deliveries.length + service.discarded.deliveries).toBe(160)
  expect(deliveries.map(({ body }) => body.length).reduce((sum, length) => sum + length)).toBeGreaterThan(48_000_000)
  expect(service.redeliver(deliveries[0]?.deliveryId ?? '').body).toBe(deliveries[0]?.body)
  service.reset()
  expect(service.discarded.deliveries).toBe(0)
})
