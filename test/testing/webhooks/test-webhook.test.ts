import { parseWebhook } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { HOOK, SECRET, start } from './start-service.ts'

describe('testWebhook, like the Test button of the panel,', () => {
  test('sends one signed user_activity message with the fields of the test payload', async () => {
    const { service, received } = start(() => new Response('x'.repeat(2000), { status: 200 }))
    service.registerWebhook({ url: HOOK, secret: SECRET })
    const result = await service.testWebhook({ account: 'ada', platform: 'discord' })
    expect(result).toEqual({ Success: true, Status: 200, Data: 'x'.repeat(1024), Payload: received[0]?.body })
    const { body = '', signature } = received[0] ?? {}
    expect(parseWebhook(SECRET, body, signature)).toMatchObject({
      kind: 'action_completed',
      payload: {
        user: 'ada',
        user_id: 'ada',
        event: { data: { account: 'ada', xp: 50, action: { id: 'connect-wallet', meta: { icon: 'wallet' } } } },
      },
    })
    expect(service.deliveries).toEqual([])
  })

  test("returns the endpoint's response or an error, without a retry", async () => {
    const { service, clock, received } = start((_, index) =>
      index === 0 ? new Response('who are you', { status: 401 }) : Promise.reject(new Error('no such host')),
    )
    service.registerWebhook({ url: HOOK })
    const user = { account: 'ada', platform: 'discord' }
    expect(await service.testWebhook(user)).toMatchObject({ Success: true, Status: 401, Data: 'who are you' })
    expect(await service.testWebhook(user)).toMatchObject({ Success: false, Status: 0, Data: 'no such host' })
    await clock.advance(600_000)
    expect(received).toHaveLength(2)
  })

  test('returns the code of the error when the endpoint cannot be reached', async () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const { service } = start(() => Promise.reject(new TypeError('fetch failed', { cause })))
    service.registerWebhook({ url: HOOK })
    const result = await service.testWebhook({ account: 'ada', platform: 'discord' })
    expect(result).toMatchObject({ Success: false, Data: 'fetch failed: ECONNREFUSED', code: 'ECONNREFUSED' })
  })

  test('makes a manual clock wait for the response', async () => {
    const { service, clock } = start(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return new Response('late')
    })
    service.registerWebhook({ url: HOOK })
    const result = service.testWebhook({ account: 'ada', platform: 'discord' })
    await clock.advance(60_000)
    expect(await result).toMatchObject({ Success: true, Status: 200, Data: 'late' })
  })

  test('sends to the given webhook and URL, for the given campaign', async () => {
    const users = [{ account: 'ada', platform: 'discord' }]
    const campaigns = [
      { id: 'one', users },
      { id: 'two', users },
    ]
    const { service, received } = start(undefined, { campaigns })
    service.registerWebhook({ url: HOOK, hook_id: 'a' })
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`], hook_id: 'b', campaigns: ['two'] })
    const user = { account: 'ada', platform: 'discord' }
    await service.testWebhook({ ...user, hook_id: 'b', url: `${HOOK}/2` })
    await service.testWebhook({ ...user, pid: 'two' })
    await service.testWebhook(user)
    expect(received.map(({ url, body }) => [url, JSON.parse(body).campaign.id])).toEqual([
      [`${HOOK}/2`, 'two'],
      [HOOK, 'two'],
      [HOOK, 'one'],
    ])
    expect(JSON.parse(received[0]?.body ?? ''), 'of a campaign without tasks').toMatchObject({
      event: { data: { action: { id: 'test', name: 'Test', type: 'test', meta: {} }, xp: 0 } },
    })
  })

  test.each([
    [{ account: 'nobody', platform: 'discord' }, 'account: there is no user "nobody" on "discord" in "demo"'],
    [{ account: 'ada', platform: 'discord', pid: 'x' }, 'pid: there is no campaign "x"'],
    [{ account: 'ada', platform: 'discord', hook_id: 'x' }, 'hook_id: there is no webhook "x"'],
    [
      { account: 'ada', platform: 'discord', url: 'https://x.example' },
      'url must be a URL of the webhook "a", got "https://x.example"',
    ],
  ])('refuses %j', async (options, message) => {
    const { service } = start()
    service.registerWebhook({ url: HOOK, hook_id: 'a' })
    await expect(service.testWebhook(options)).rejects.toThrow(`testWebhook: ${message}`)
  })
})

test('testWebhook works with the system clock', async () => {
  const { service } = start(undefined, { clock: undefined })
  service.registerWebhook({ url: HOOK })
  expect(await service.testWebhook({ account: 'ada', platform: 'discord' })).toMatchObject({ Status: 200 })
})

test('testWebhook rejects without a webhook', async () => {
  const { service } = start()
  const user = { account: 'ada', platform: 'discord' }
  await expect(service.testWebhook(user)).rejects.toThrow('testWebhook: hook_id: there is no webhook')
})
