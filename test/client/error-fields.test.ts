import {
  CampaignClient,
  type CampaignError,
  type EndEvent,
  type NetworkError,
  TransportError,
  type TransportResponse,
} from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, test, vi } from 'vitest'
import { BASE_URL, clientWith, rejection } from './stub-service.ts'

const award = { address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'r-1', xp: 10 }
const user = { account: 'ada lovelace', platform: 'discord', pid: 'demo' }
const refusing = (status: number, headers: Record<string, string> = {}) =>
  vi.fn(async () => Response.json({ success: true, error: { code: status, message: 'no' } }, { status, headers }))

describe('attempts', () => {
  test.each([
    ['0 for a refused argument', { xp: Number.NaN }, refusing(503), {}, 0],
    ['1 for a call that is not retried', {}, refusing(400), {}, 1],
    ['3 after two retries', {}, refusing(503), { maxRetries: 2, retryDelayMs: () => 0 }, 3],
  ])('are %s, on the error and in onEnd', async (_, change, fetch, options, attempts) => {
    const ends: EndEvent[] = []
    const client = clientWith({ fetch, hooks: { onEnd: (event) => ends.push(event) }, ...options })
    const error = await rejection(client.rewardWallet({ ...award, ...change }))
    expect(error).toMatchObject({ operation: 'rewardWallet', attempts })
    expect(ends).toMatchObject([{ attempts, error }])
    expect(fetch).toHaveBeenCalledTimes(attempts)
  })

  test('are 0 for a call without a token and a call without a path', async () => {
    const withoutToken = clientWith({ accessToken: () => '', fetch: refusing(400) })
    expect(await rejection(withoutToken.rewardWallet(award))).toMatchObject({ code: 'access_token', attempts: 0 })
    const withoutPath = new CampaignClient({ baseUrl: BASE_URL, accessToken: 'a-token', fetch: refusing(400) })
    const registration = { scope: 'user_activity', url: 'https://partner.example/hook' }
    expect(await rejection(withoutPath.registerWebhook(registration))).toMatchObject({
      code: 'configuration',
      attempts: 0,
    })
  })

  test('count the attempts before a timeout of the whole call', async () => {
    const client = clientWith({
      fetch: refusing(503, { 'retry-after': '20' }),
      maxRetries: 2,
      totalTimeoutMs: 5_000,
    })
    expect(await rejection(client.rewardWallet(award))).toMatchObject({ code: 'timeout', attempts: 1 })
  })
})

describe('requestId', () => {
  test.each([
    [{ 'x-request-id': 'r', 'x-correlation-id': 'c', 'cf-ray': 'f' }, 'r'],
    [{ 'x-correlation-id': 'c', 'cf-ray': 'f' }, 'c'],
    [{ 'cf-ray': 'f' }, 'f'],
    [{ 'x-request-id': '', 'cf-ray': 'f' }, 'f'],
  ])('with the headers %j is %j', async (headers, requestId) => {
    const error = await rejection(clientWith({ fetch: refusing(400, headers) }).rewardWallet(award))
    expect(error).toMatchObject({ code: 'bad_request', requestId, headers })
    const garbled = clientWith({ fetch: async () => new Response('not JSON', { headers }) })
    expect(await rejection(garbled.rewardWallet(award))).toMatchObject({ code: 'unexpected_response', requestId })
  })

  test('is absent without such a header', async () => {
    expect(await rejection(clientWith({ fetch: refusing(400) }).rewardWallet(award))).not.toHaveProperty('requestId')
  })
})

test('with the local service, the message has the reason of the refusal', async () => {
  const { fetch } = createCampaignService()
  const client = clientWith({ fetch })
  const error = (await rejection(client.getUserProgress({ ...user, pid: 'missing' }))) as CampaignError
  expect(error).toMatchObject({ headers: { 'x-refusal-reason': expect.stringContaining('missing') } })
  expect(error.message).toMatch(/^getUserProgress: the service responded with HTTP 4\d\d, .+, reason: .*missing/)
})

describe('the arguments of a read', () => {
  const query = 'account=ada+lovelace&platform=discord&pid=demo'

  test('are not in the error, its causes or onEnd if the message of fetch contains the URL', async () => {
    const ends: EndEvent[] = []
    const fetch = async (url: string) => {
      const cause = new Error(`connect to ${url} failed`)
      throw new TypeError(`error sending request for url (${url})`, { cause })
    }
    const client = clientWith({ fetch: fetch as never, hooks: { onEnd: (event) => ends.push(event) } })
    const error = (await rejection(client.getUserProgress(user))) as NetworkError
    const shown: unknown[] = [error, ends[0]?.error]
    for (let each: unknown = error; each instanceof Error; each = each.cause) {
      shown.push(each.message, each.stack)
    }
    for (const text of shown.map(String)) expect(text).not.toMatch(/ada|discord/)
    expect(error.message).toContain('/user/progress?[redacted]')
    expect(String((error.cause as Error).stack)).not.toContain(query)
  })
})

describe('systemCode', () => {
  const lost = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
  const incomplete: TransportResponse = { status: 200, header: () => null, text: '{', complete: false, cause: lost }

  test.each([
    ['a response that breaks off', async () => incomplete],
    [
      'an error that is not a TransportError',
      async () => {
        throw new Error('failed', { cause: lost })
      },
    ],
    [
      'a TransportError without a system code',
      async () => {
        throw new TransportError('', { kind: 'network', sent: true, cause: lost })
      },
    ],
  ])('after %s is the code of its cause', async (_, send) => {
    const error = await rejection(clientWith({ transport: { send } }).rewardWallet(award))
    expect(error).toMatchObject({ code: 'network', systemCode: 'ECONNRESET', outcome: 'unknown' })
  })
})

test.each([429, 503])('the error that retryDelayMs receives after a %i has outcome and attempts', async (status) => {
  const received: object[] = []
  const retryDelayMs = (_attempt: number, error: CampaignError) => {
    received.push({ ...error })
    return 0
  }
  const client = clientWith({ fetch: refusing(status), maxRetries: 1, retryDelayMs })
  await rejection(client.rewardWallet(award))
  expect(received[0]).toMatchObject({ attempts: 1, outcome: status === 429 ? 'not_applied' : 'unknown' })
})
