import { CampaignClient, type TransportRequest } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { createCampaignService } from 'campaign-client/testing'
import { expect, onTestFinished, test } from 'vitest'
import { AttemptCancellation } from '../../src/http/cancellation.ts'

test('a cancellation has its reason, and a signal that is created later is aborted', () => {
  const cancellation = new AttemptCancellation()
  const reason = new Error('too late')
  cancellation.cancel(reason)
  expect(cancellation.reason).toBe(reason)
  expect(cancellation.signal.aborted).toBe(true)
  expect(cancellation.signal.reason).toBe(reason)
})

test('a listener is called once, unless it was removed', () => {
  const calls: string[] = []
  const kept = new AttemptCancellation()
  kept.onCancel(() => calls.push('kept'))
  const removed = new AttemptCancellation()
  removed.onCancel(() => calls.push('removed'))()
  for (const cancellation of [kept, removed]) cancellation.cancel(new Error('stop'))
  expect(calls).toEqual(['kept'])
})

test('a function that replaces send of nodeTransport gets a signal', async () => {
  const service = await createCampaignService().listen()
  const own = nodeTransport()
  onTestFinished(async () => {
    own.close()
    await service.close()
  })
  const signals: AbortSignal[] = []
  const send = (request: TransportRequest, signal: AbortSignal) => {
    signals.push(signal)
    return own.send(request, signal)
  }
  const client = new CampaignClient({ baseUrl: service.url, accessToken: 'a-token', transport: { ...own, send } })
  expect((await client.getCampaignInfo({ pid: 'demo' })).id).toBe('demo')
  expect(signals).toEqual([expect.any(AbortSignal)])
})
