/**
 * jsdom lacks TextDecoder, TextEncoder, fetch, Request and Response.
 *
 * @jest-environment jsdom
 */
const { createHmac } = require('node:crypto')
const { runInThisContext } = require('node:vm')

const { exports: entries } = jest.requireActual('campaign-client/package.json')
const user = { account: 'ada', platform: 'discord', pid: 'demo' }
const baseUrl = 'https://campaign.example/api/v1'

test('jsdom lacks the classes that the package uses', () => {
  for (const name of ['TextDecoder', 'TextEncoder', 'fetch', 'Request', 'Response'])
    expect(name in globalThis).toBe(false)
})

// msw is not installed here, and needs these classes when it is imported.
test.each(Object.keys(entries).filter((entry) => entry !== './testing/msw'))('require(%j) works', (entry) => {
  expect(Object.keys(require(`campaign-client${entry.slice(1)}`)).length).toBeGreaterThan(0)
})

describe('a client with a fetch of its own', () => {
  const { CampaignClient } = require('campaign-client')
  const { createCampaignService } = require('campaign-client/testing')

  // A JWT, with characters that errors redact in all encodings.
  const accessToken = 'header.payload.signature'
  const progress = { success: false, error: { code: 403, message: 'not yours' } }

  test('that returns an object like a Response works', async () => {
    const fetch = async () => ({
      status: 200,
      headers: { get: () => null },
      text: async () => JSON.stringify({ success: true, data: { code: 'x', referrer: 'ada' } }),
    })
    const client = new CampaignClient({ baseUrl, accessToken, fetch, responseValidation: 'report' })
    await expect(client.getInviteCode({ code: 'x', pid: 'demo' })).resolves.toMatchObject({ code: 'x' })
  })

  test('that returns a Response of another realm works', async () => {
    const respond = runInThisContext('(body) => Response.json(body, { status: 403 })')
    const client = new CampaignClient({
      baseUrl,
      accessToken: async () => accessToken,
      fetch: async () => respond(progress),
    })
    await expect(client.getUserProgress(user)).rejects.toMatchObject({ code: 'access_denied', status: 403 })
  })

  test('is told what the runtime lacks when the local service is called', async () => {
    const { fetch } = createCampaignService()
    const client = new CampaignClient({ baseUrl, accessToken, fetch, maxRetries: 0 })
    await expect(client.getUserProgress(user)).rejects.toThrow(
      /(?:Request|Response|Headers|TextEncoder) is not defined/,
    )
  })
})

test('a call over the fetch of the platform says that the runtime has no fetch', async () => {
  const { CampaignClient } = require('campaign-client')
  const client = new CampaignClient({ baseUrl, accessToken: 'an-access-token', maxRetries: 0 })
  await expect(client.getUserProgress(user)).rejects.toThrow(
    'this runtime has no global fetch; pass fetch or a transport',
  )
})

test('reading a message says which class the runtime lacks', () => {
  const { parseWebhook } = require('campaign-client/webhook')
  const body = '{"id":"1"}'
  const signature = createHmac('sha256', 'a webhook secret').update(body).digest('hex')
  const parse = () => parseWebhook('a webhook secret', Buffer.from(body), signature)
  expect(parse).toThrow(/Text(?:En|De)coder is not defined/)
})
