import { ConfigurationError } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'

const withCampaign = (seed: object) => createCampaignService({ campaigns: [{ id: 'demo', ...seed } as never] })
const service = () => {
  const created = createCampaignService()
  created.registerWebhook({ url: 'https://partner.example/hook' })
  return created
}

describe('valid options', () => {
  test('an undefined option has its default', () => {
    expect(service().fail({ kind: 'reset', on: undefined, times: undefined }).remaining).toBe(1)
  })

  test('metadata and payloads may have any fields', () => {
    const reward = { id: 'r', reward: 'badge', type: 'nft', issued_at: 5 }
    const created = withCampaign({
      actions: [{ id: 't', meta: { anything: { goes: true } } }],
      users: [{ account: 'ada', platform: 'web', rewards: [reward] }],
    })
    expect(created.state.entries).toHaveLength(1)
    expect(created.emit({ kind: 'custom', payload: { any: 'thing' } }).body).toContain('"any":"thing"')
  })
})

describe('a value of the wrong type', () => {
  test.each([
    [
      'createCampaignService',
      () => createCampaignService('demo' as never),
      /^createCampaignService: the options must be an object/,
    ],
    [
      'a campaign',
      () => createCampaignService({ campaigns: [null as never] }),
      /^createCampaignService: campaigns\.0: expected object, received null/,
    ],
    [
      'a task',
      () => withCampaign({ actions: [null] }),
      /^createCampaignService: campaigns\.0\.actions\.0: expected object, received null/,
    ],
    [
      'a user',
      () => withCampaign({ users: [undefined] }),
      /^createCampaignService: campaigns\.0\.users\.0: expected object, received undefined/,
    ],
    [
      'a token',
      () => createCampaignService({ tokens: { t: true as never } }),
      /^createCampaignService: tokens: expected object, received boolean/,
    ],
    [
      'a token for one campaign',
      () => createCampaignService({ tokens: { t: { campaigns: 'demo' as never } } }),
      /^createCampaignService: tokens\.campaigns: expected array, received string/,
    ],
    ['a fault', () => service().fail(undefined as never), /^fail: kind must be 'status' or 'reset' or 'hang' or /],
    ['an event', () => service().emit(undefined as never), /^emit: kind must be/],
  ])('is refused for %s', (_, call, message) => {
    expect(call).toThrow(ConfigurationError)
    expect(call).toThrow(message)
  })
})

test('several misspelt options of one object list the known names once', () => {
  const seed = { campaigns: [{ id: 'c', nam: 'C', users: [], quest: [] }] }
  const options = 'the options are id, name, organization, registration, actions, quests, challenges, seasons, users, '
  const message = `createCampaignService: campaigns.0.nam is not an option; ${options}invite_codes; campaigns.0.quest is not an option`
  expect(() => createCampaignService(seed as never)).toThrow(expect.objectContaining({ message }))
})

describe('createCampaignService', () => {
  test('reports wrong options, tokens and seeds in one error', () => {
    const create = () =>
      createCampaignService({
        campaigns: [{ id: '' }],
        tokens: { 'a token': {}, fine: { expired: 'yes' } },
        queryNames: { getUserProgress: { pid: 'x' } },
        webhookRegistrationPath: '/',
        deliver: 'https://x',
        deliveryTimeoutMs: 0,
        rateLimit: { perSecond: 0, perMinute: 1 },
        clok: 1,
      } as never)
    const limit = [
      ['rateLimit', 'perMinute'],
      ['rateLimit', 'perSecond'],
    ]
    const seed = [['tokens'], ['tokens', 'expired'], ['campaigns', 0, 'id']]
    const names = [['queryNames', 'getUserProgress'], ['webhookRegistrationPath'], ['deliver']]
    const paths = [['clok'], ...names, ['deliveryTimeoutMs'], ...limit, ...seed]
    expect(create).toThrow(ConfigurationError)
    expect(create).toThrow(expect.objectContaining({ issues: paths.map((path) => expect.objectContaining({ path })) }))
  })
})

test('a webhook secret of only zero bytes, which cannot sign messages, is refused over HTTP with 400', async () => {
  const created = service()
  const response = await created.fetch('https://x.example/api/v1/webhook', {
    method: 'POST',
    headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://partner.example/hook', secret: '\0\0', scope: 'user_activity' }),
  })
  expect(response.status).toBe(400)
  expect(created.webhooks).toHaveLength(1)
})

describe('the options of a fault', () => {
  test('have a body with at most 1000 levels', () => {
    const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
    const created = service()
    created.fail({ kind: 'status', body: nested(1_000) })
    expect(() => created.fail({ kind: 'status', body: nested(1_001) })).toThrow(/body must have at most 1000 nested/)
    expect(created.faults).toHaveLength(1)
  })

  test.each([5, null, ['5']])('have texts as headers, not %j', (value) => {
    const headers = { 'retry-after': value } as never
    expect(() => service().fail({ kind: 'status', headers })).toThrow(/headers\.retry-after: expected string/)
  })

  test('cannot change their kind after the check', () => {
    const kinds = ['reset', 'unknown']
    const created = service()
    const options = {
      get kind() {
        return kinds.shift()
      },
    }
    expect(() => created.fail(options as never)).toThrow(ConfigurationError)
    expect(created.faults).toEqual([])
  })
})
