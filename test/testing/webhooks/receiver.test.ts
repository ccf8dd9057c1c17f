import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { createWebhookReceiver } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { emitFollow, HOOK, only, SECRET, start } from './start-service.ts'

describe('a webhook receiver', () => {
  test('handles each message once when the first attempts fail', async () => {
    const handled: string[] = []
    let failures = 2
    const receiver = createWebhookReceiver({
      endpoint: 'test',
      secret: SECRET,
      onError: () => {},
      handle(event) {
        if (failures-- > 0) throw new Error('not now')
        handled.push(event.kind)
      },
    })
    const { service, clock } = start((request) => receiver.fetch(request))
    service.registerWebhook({ url: HOOK, secret: SECRET })
    service.emit(emitFollow)
    await clock.advance(395_000)
    expect(handled).toEqual(['action_completed'])
    expect(only(service.deliveries).attempts.map(({ status }) => status)).toEqual([500, 500, 200])
    await receiver.close()
  })

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
