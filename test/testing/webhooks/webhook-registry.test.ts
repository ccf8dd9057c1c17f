import { ConfigurationError } from 'campaign-client'
import { verifyWebhook } from 'campaign-client/webhook'
import { describe, expect, test } from 'vitest'
import { caller, ok, refused } from '../rest.ts'
import { ada, emitFollow, HOOK, SECRET, start } from './start-service.ts'

describe('a message', () => {
  test('is sent to every endpoint of every webhook of its scope, with the signature of the webhook', async () => {
    const { service, received } = start()
    service.registerWebhook({ url: [`${HOOK}/1`, `${HOOK}/2`, `${HOOK}/1`], secret: SECRET, hook_id: 'a' })
    service.registerWebhook({ url: `${HOOK}/3`, secret: 'another secret', hook_id: 'b' })
    service.registerWebhook({ url: `${HOOK}/4`, scope: 'user_login', hook_id: 'c' })
    const message = service.emit(emitFollow)
    await service.settle()
    expect(received.map(({ url }) => url)).toEqual([`${HOOK}/1`, `${HOOK}/2`, `${HOOK}/3`])
    expect(new Set(received.map(({ body }) => body))).toEqual(new Set([message.body]))
    expect(received[0]?.signature).toBe(received[1]?.signature)
    expect(verifyWebhook('another secret', message.body, received[2]?.signature)).toBe(true)
    expect(service.deliveries.map(({ id, hook_id, url, state }) => [id, hook_id, url, state])).toEqual([
      [message.id, 'a', `${HOOK}/1`, 'delivered'],
      [message.id, 'a', `${HOOK}/2`, 'delivered'],
      [message.id, 'b', `${HOOK}/3`, 'delivered'],
    ])
  })

  test('is sent to the webhooks of its campaign, and to webhooks without campaigns', async () => {
    const users = [{ account: 'ada', platform: 'discord' }]
    const actions = [{ id: 't' }]
    const campaigns = ['one', 'two', 'three'].map((id) => ({ id, users, actions }))
    const { service } = start(undefined, { campaigns })
    service.registerWebhook({ url: HOOK, hook_id: 'all', campaigns: [] })
    service.registerWebhook({ url: HOOK, hook_id: 'some', campaigns: ['one', 'two'] })
    expect(service.webhooks.map(({ campaigns }) => campaigns)).toEqual([[], ['one', 'two']])
    const hooks = (pid: string) => service.emit({ kind: 'action_completed', ...ada, pid, aid: 't' }).hook_ids
    expect(hooks('one')).toEqual(['all', 'some'])
    expect(hooks('three')).toEqual(['all'])
    expect(service.emit({ kind: 'custom', payload: {} }).hook_ids, 'a message without a campaign').toEqual(['all'])
    expect(service.emit({ kind: 'custom', payload: {}, pid: 'two' }).hook_ids).toEqual(['all', 'some'])
    const only = { kind: 'custom', payload: {}, pid: 'one' } as const
    expect(service.emit({ ...only, hook_id: 'some' }).hook_ids, 'a message to one webhook').toEqual(['some'])
    expect(service.emit({ ...only, hook_id: 'some', pid: 'three' }).hook_ids).toEqual([])
  })

  test('is sent to a webhook registered by the API only for the campaigns of its token', async () => {
    const users = [{ account: 'ada', platform: 'discord' }]
    const actions = [{ id: 't' }]
    const { service } = start(undefined, {
      campaigns: [
        { id: 'north', organization: 'n', users, actions },
        { id: 'north-2', organization: 'n', users, actions },
        { id: 'south', organization: 's', users, actions },
      ],
      tokens: { n: { organization: 'n' }, one: { organization: 'n', campaigns: ['north'] }, s: { organization: 's' } },
    })
    const register = (token: string, hook_id: string, url = HOOK) =>
      caller(service.fetch, { token }).post('/webhook', { scope: 'user_activity', url, hook_id })
    expect(await register('n', 'of-n')).toMatchObject(ok({ hook_id: 'of-n' }))
    expect(await register('one', 'one-of-n')).toMatchObject(ok({ hook_id: 'one-of-n' }))
    const hooks = (pid: string) => service.emit({ kind: 'action_completed', ...ada, pid, aid: 't' }).hook_ids
    expect([hooks('north'), hooks('north-2'), hooks('south')]).toEqual([['of-n', 'one-of-n'], ['of-n'], []])

    expect(await register('s', 'of-n'), 'another organization’s webhook is not replaced').toMatchObject(refused(403))
    expect(await register('n', 'of-n', `${HOOK}/new`)).toMatchObject(ok({ hook_id: 'of-n' }))
    expect(service.webhooks.map(({ urls }) => urls[0])).toEqual([`${HOOK}/new`, HOOK])
  })

  test('is sent to a webhook until it is unregistered', async () => {
    const { service, post } = start()
    for (let times = 0; times < 2; times++) await post('/webhook', { scope: 'user_activity', url: HOOK })
    const [first, second] = service.emit(emitFollow).hook_ids as [string, string]
    expect(first).not.toBe(second)
    expect(service.unregisterWebhook(first)).toBe(true)
    expect(service.unregisterWebhook(first)).toBe(false)
    expect(service.emit(emitFollow).hook_ids).toEqual([second])
  })

  test.each([
    [{ url: 'ftp://partner.example' }, /^registerWebhook: url must be an absolute http or https URL/],
    [{ url: '/hook' }, /url must be/],
    [{ url: [HOOK, '/hook'] }, /^registerWebhook: url\.1 must be an absolute http or https URL/],
    [{}, /^registerWebhook: url: expected string or array, received undefined/],
    [{ url: HOOK, campaigns: ['demo', ''] }, /^registerWebhook: campaigns\.1 must not be empty/],
    [{ url: [] }, /url must name at least one/],
    [{ url: HOOK, secret: '' }, /^registerWebhook: secret must not be empty/],
    [{ url: HOOK, secret: '\0\0' }, /^registerWebhook: secret must not consist of zero bytes/],
    [{ url: HOOK, scope: '' }, /^registerWebhook: scope must not be empty/],
    [{ url: HOOK, hook_id: 5 }, /^registerWebhook: hook_id: expected string, received number/],
    [{ url: HOOK, campaigns: 'demo' }, /^registerWebhook: campaigns: expected array, received string/],
  ])('registerWebhook refuses %j', (options, message) => {
    const { service } = start()
    expect(() => service.registerWebhook(options as never)).toThrow(ConfigurationError)
    expect(() => service.registerWebhook(options as never)).toThrow(message)
    expect(service.webhooks).toEqual([])
  })
})
