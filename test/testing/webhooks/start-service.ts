import {
  type CampaignServiceOptions,
  createCampaignService,
  createManualClock,
  type DeliveryRecord,
} from 'campaign-client/testing'
import { expect } from 'vitest'
import { caller } from '../rest.ts'

export const SECRET = 'the secret of the hook'
export const HOOK = 'https://partner.example/hook'
export const WALLET = `0x${'1'.repeat(40)}`
export const ada = { account: 'ada', platform: 'discord', pid: 'demo' }

interface Received {
  url: string
  method: string
  body: string
  signature: string | null
  contentType: string | null
  at: number
}

/** Creates a service that sends its webhook messages to `respond`. It has a manual clock. */
export const start = (
  respond: (request: Request, index: number) => Response | Promise<Response> = () => new Response('thanks'),
  options: CampaignServiceOptions = {},
  patienceMs?: number,
) => {
  const clock = createManualClock({ startMs: 0, patienceMs })
  const received: Received[] = []
  const service = createCampaignService({
    clock,
    idSeed: 'webhooks',
    async deliver(request) {
      received.push({
        url: request.url,
        method: request.method,
        body: await request.clone().text(),
        signature: request.headers.get('x-service-signature'),
        contentType: request.headers.get('content-type'),
        at: clock.now(),
      })
      return respond(request, received.length - 1)
    },
    ...options,
  })
  return { service, clock, received, ...caller(service.fetch) }
}

export const emitFollow = { kind: 'action_completed', ...ada, aid: 'follow' } as const
export const only = (deliveries: readonly DeliveryRecord[]): DeliveryRecord => {
  expect(deliveries).toHaveLength(1)
  return deliveries[0] as DeliveryRecord
}
