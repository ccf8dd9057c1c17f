import { CampaignClient, ConfigurationError } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { describe, expect, it } from 'vitest'
import { mustBeText, readOptions } from '../../src/errors/option-checks.ts'

type Maker = (options: object) => unknown

const client: Maker = (options) =>
  new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'token', ...options })
const localService: Maker = createCampaignService

/** Returns the error for these options. */
function refusal(make: Maker, options: object): Error {
  try {
    make(options)
  } catch (error) {
    return error as Error
  }
  throw new Error('the options were accepted')
}

/** Returns the message for these options, without the name of the function. */
const messageOf = (make: Maker, options: object): string => {
  const error = refusal(make, options)
  return error.message.replace(/^(?:CampaignClient|createCampaignService): /, '')
}

describe('queryNames', () => {
  it.each<[unknown, RegExp]>([
    ['pid', /^queryNames must be an object, got string$/],
    [null, /^queryNames must be an object, got null$/],
    [['pid'], /^queryNames must be an object, got array$/],
    [
      { getUserProgress: undefined },
      /^queryNames\.getUserProgress is not an option; the options are getCampaignInfo, /,
    ],
    [{ getCampaignInfo: 'id' }, /^queryNames\.getCampaignInfo must be an object, got string$/],
    [{ getCampaignInfo: { pid: undefined } }, /^queryNames\.getCampaignInfo\.pid must be a non-empty string /],
    [{ getCampaignInfo: { pid: '' } }, /^queryNames\.getCampaignInfo\.pid must be a non-empty string /],
    [{ getCampaignInfo: { pid: 'a\ud800' } }, /^queryNames\.getCampaignInfo\.pid .* without a lone surrogate$/],
    [
      { getCampaignInfo: { id: undefined } },
      /^queryNames\.getCampaignInfo\.id is not an argument of the operation; use pid$/,
    ],
    [
      { getUserProfiles: { account: 'id', pid: 'id' } },
      /^queryNames\.getUserProfiles gives two arguments the same name$/,
    ],
    [{ getInviteCode: { code: 'pid' } }, /^queryNames\.getInviteCode gives two arguments the same name$/],
  ])('%j is refused by the client and by the local service with the same message', (queryNames, message) => {
    expect(messageOf(client, { queryNames })).toMatch(message)
    expect(messageOf(localService, { queryNames })).toBe(messageOf(client, { queryNames }))
  })

  it.each([undefined, {}, { getCampaignInfo: undefined }, { getInviteCode: { code: 'pid', pid: 'code' } }])(
    '%j is accepted by the client and by the local service',
    (queryNames) => {
      expect(() => client({ queryNames })).not.toThrow()
      expect(() => localService({ queryNames })).not.toThrow()
    },
  )
})

describe('webhookRegistrationPath', () => {
  it.each<[unknown, RegExp]>([
    ...[
      null,
      5,
      '',
      '/',
      '//a',
      'https://elsewhere.example/x',
      'a/../b',
      '../a',
      'a/%2E%2e/b',
      './a',
      'a?b',
      'a#b',
      'a b',
      'a\\b',
      'https://a.example',
    ].map((path): [unknown, RegExp] => [path, /^webhookRegistrationPath must be a path below the base URL /]),
    ['a\ud800', /^webhookRegistrationPath must be a path below the base URL /],
    ['wallet/reward', /^webhookRegistrationPath must not be the path of another operation$/],
    ['/user', /^webhookRegistrationPath must not be the path of another operation$/],
  ])(
    '%j is refused by the client and by the local service with the same message',
    (webhookRegistrationPath, message) => {
      expect(messageOf(client, { webhookRegistrationPath })).toMatch(message)
      expect(messageOf(localService, { webhookRegistrationPath })).toBe(messageOf(client, { webhookRegistrationPath }))
    },
  )

  it.each(['webhooks', '/webhooks', 'org/webhooks/', 'campaign/info'])(
    '%j is the same path for the client and for the local service',
    async (webhookRegistrationPath) => {
      const { fetch } = createCampaignService({ webhookRegistrationPath })
      const options = { baseUrl: 'https://service.example/api/v1', accessToken: 'token' }
      const campaignClient = new CampaignClient({ ...options, fetch, webhookRegistrationPath })
      await campaignClient.registerWebhook({ scope: 'user_activity', url: 'https://partner.example' })
    },
  )
})

it("reports all problems of a client's options at once, without values", () => {
  const options = { misspelt: undefined, timeoutMs: 's3cret', queryNames: { getCampaignInfo: { pid: undefined } } }
  const error = refusal(client, { ...options, webhookRegistrationPath: 's3cret/../x' })
  expect(error).toBeInstanceOf(ConfigurationError)
  expect(error.message).toMatch(/misspelt .*; timeoutMs .*; queryNames\..*; webhookRegistrationPath /)
  expect(error.message).not.toContain('s3cret')
})

it('two unknown options share one list of the options', () => {
  const misspelt = { frist: 'a', secnod: 'b' } as never
  expect(() => readOptions('make', misspelt, { first: mustBeText, second: mustBeText } as never)).toThrow(
    /^make: frist is not an option; the options are first, second; secnod is not an option; first must be/,
  )
})

it('a wrong seed lists the options of an entry once', () => {
  const task = { id: 't', nmae: 'x', xpp: 1 }
  const campaigns = [{ id: 'demo', actions: [task, { ...task, id: 'u' }] }]
  expect(() => createCampaignService({ campaigns } as never)).toThrow(
    /^(?!.*the options are id, .*the options are id, )/s,
  )
})
