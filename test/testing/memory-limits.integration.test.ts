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
