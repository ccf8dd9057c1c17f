import { expect, test } from 'vitest'
import { activity, deliveryOf } from '../signed-message.ts'
import { observedReceiver } from './observed-receiver.ts'

const ADDRESS = 'http://receiver.test/webhooks/campaign'
const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

async function contentOf(response: Response): Promise<unknown> {
  return [response.status, Object.fromEntries(response.headers), await response.json()]
}

test('the response to an accepted message is not cached', async () => {
  const { receiver } = observedReceiver()
  expect(await contentOf(await receiver.fetch(deliveryOf(activity())))).toEqual([
    200,
    HEADERS,
    { ok: true, result: 'handled' },
  ])
})

test.each<[status: number, error: string, more: Record<string, string>, request: () => Request]>([
  [400, 'bad_request', {}, () => deliveryOf('{}')],
  [401, 'unauthorized', {}, () => deliveryOf(activity(), { secret: 'another' })],
  [405, 'method_not_allowed', { allow: 'POST' }, () => new Request(ADDRESS)],
  [413, 'payload_too_large', {}, () => deliveryOf(activity({ team: 'x'.repeat(5000) }))],
  [500, 'internal_error', {}, () => deliveryOf(activity())],
  [503, 'unavailable', { 'retry-after': '5' }, () => deliveryOf(activity())],
])('%d has the error %s, and no other details', async (status, error, more, request) => {
  const { receiver } = observedReceiver({
    maxBodyBytes: 5000,
    handle: () => Promise.reject(new Error('handler')),
  })
  if (status === 503) await receiver.close()
  expect(await contentOf(await receiver.fetch(request()))).toEqual([
    status,
    { ...HEADERS, ...more },
    { ok: false, error },
  ])
})
