import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'

/** A call with one misspelt option. */
interface Misspelt {
  readonly subject: string
  readonly call: (options: never) => unknown
  readonly options: object
  readonly message: RegExp
}

const withCampaign = (seed: object) => createCampaignService({ campaigns: [{ id: 'demo', ...seed } as never] })
const service = () => {
  const created = createCampaignService()
  created.registerWebhook({ url: 'https://partner.example/hook' })
  return created
}
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }

const misspelt: readonly Misspelt[] = [
  {
    subject: 'the service',
    call: createCampaignService,
    options: { campaign: [] },
    message:
      /^createCampaignService: campaign is not an option; the options are campaigns, webhooks, awards, values, tokens, clock, idSeed, queryNames, /,
  },
  {
    subject: 'the clock',
    call: createManualClock,
    options: { startMS: 0 },
    message: /^createManualClock: startMS is not an option; the options are startMs, running, patienceMs$/,
  },
  {
    subject: 'a token, without the token in the message',
    call: (grant) => createCampaignService({ tokens: { 'the-token': grant } }),
    options: { expird: true },
    message:
      /^createCampaignService: tokens\.expird is not an option; the options are organization, campaigns, expired$/,
  },
  {
    subject: 'a campaign',
    call: withCampaign,
    options: { action: [] },
    message:
      /^createCampaignService: campaigns\.0\.action is not an option; the options are id, name, .*, actions, quests, challenges, /,
  },
  {
    subject: 'a task',
    call: withCampaign,
    options: { actions: [{ id: 't' }, { id: 'u', dep: ['t'] }] },
    message:
      /^createCampaignService: campaigns\.0\.actions\.1\.dep is not an option; the options are id, .*, deps, .*, is_optional$/,
  },
  {
    subject: 'a quest',
    call: withCampaign,
    options: { actions: [{ id: 't' }], quests: [{ id: 'q', actions: ['t'], recurrence: 'daily' }] },
    message:
      /^createCampaignService: campaigns\.0\.quests\.0\.recurrence is not an option; the options are id, name, xp, .*, actions$/,
  },
  {
    subject: 'a challenge',
    call: withCampaign,
    options: { challenges: [{ id: 'c', actions: ['t'] }] },
    message:
      /^createCampaignService: campaigns\.0\.challenges\.0\.actions is not an option; the options are id, name, xp, xp_mul, meta, deps$/,
  },
  {
    subject: 'a season',
    call: withCampaign,
    options: { seasons: [{ name: 's', max_xp: 1, min_xp: 0 }] },
    message: /^createCampaignService: campaigns\.0\.seasons\.0\.min_xp is not an option; the options are name, max_xp$/,
  },
  {
    subject: 'a user',
    call: withCampaign,
    options: { users: [{ account: 'ada', platform: 'web', refId: 'r' }] },
    message:
      /^createCampaignService: campaigns\.0\.users\.0\.refId is not an option; the options are id, account, .*, referrer, ref_id$/,
  },
  {
    subject: 'an account of a user',
    call: withCampaign,
    options: { users: [{ account: 'ada', platform: 'web', profiles: [{ account: 'a', platform: 'p', acount: 'b' }] }] },
    message:
      /^createCampaignService: campaigns\.0\.users\.0\.profiles\.0\.acount is not an option; the options are account, platform$/,
  },
  {
    subject: 'an invite code',
    call: withCampaign,
    options: { invite_codes: [{ code: 'c', usedBy: ['ada'] }] },
    message:
      /^createCampaignService: campaigns\.0\.invite_codes\.0\.usedBy is not an option; the options are code, used_by$/,
  },
  {
    subject: 'a fault',
    call: (options) => service().fail(options),
    options: { kind: 'status', time: 2 },
    message:
      /^fail of kind status: time is not an option; the options are kind, on, times, applied, status, headers, body$/,
  },
  {
    subject: 'a fault of another kind',
    call: (options) => service().fail(options),
    options: { kind: 'reset', status: 503 },
    message: /^fail of kind reset: status is not an option; the options are kind, on, times, applied$/,
  },
  {
    subject: 'a fault of a kind without delayMs',
    call: (options) => service().fail(options),
    options: { kind: 'stall', delayMs: 5 },
    message: /^fail of kind stall: delayMs is not an option; the options are kind, on, times$/,
  },
  {
    subject: 'a fault whose kind implies applied',
    call: (options) => service().fail(options),
    options: { kind: 'applied_then_reset', applied: false },
    message: /^fail of kind applied_then_reset: applied is not an option; the options are kind, on, times$/,
  },
  {
    subject: 'a fault that always applies the request',
    call: (options) => service().fail(options),
    options: { kind: 'truncate', applied: false },
    message: /^fail of kind truncate: applied is not an option; the options are kind, on, times$/,
  },
  {
    subject: 'a webhook',
    call: (options) => service().registerWebhook(options),
    options: { url: 'https://partner.example/hook', secert: 'x' },
    message:
      /^registerWebhook: secert is not an option; the options are scope, url, secret, hook_id, campaigns, organization$/,
  },
  {
    subject: 'an event',
    call: (options) => service().emit(options),
    options: { kind: 'action_completed', ...ada, aid: 'follow', XP: 5 },
    message:
      /^emit of kind action_completed: XP is not an option; the options are kind, account, platform, pid, xp, aid$/,
  },
  {
    subject: 'an event of another kind',
    call: (options) => service().emit(options),
    options: { kind: 'quest_completed', ...ada, cid: 'welcome', aid: 'follow' },
    message:
      /^emit of kind quest_completed: aid is not an option; the options are kind, account, platform, pid, xp, cid$/,
  },
  {
    subject: 'a custom message',
    call: (options) => service().emit(options),
    options: { kind: 'custom', payload: {}, scopes: 'user_login' },
    message: /^emit of kind custom: scopes is not an option; the options are kind, payload, scope, pid$/,
  },
]

describe('a misspelt option', () => {
  test.each(misspelt)('of $subject is refused, with the known names', ({ call, options, message }) => {
    expect(() => call(options as never)).toThrow(TypeError)
    expect(() => call(options as never)).toThrow(message)
  })

  test.each([
    ['listen', (options: never) => service().listen(options), { prot: 1 }, 'the options are port, host, intercept'],
    [
      'testWebhook',
      (options: never) => service().testWebhook(options),
      { ...ada, hookId: 'a' },
      'the options are account, platform, pid, hook_id, url',
    ],
  ])('of %s rejects the call', async (name, call, options, known) => {
    const refused = call(options as never)
    await expect(refused).rejects.toThrow(TypeError)
    await expect(refused).rejects.toThrow(new RegExp(`^${name}: (?:prot|hookId) is not an option; ${known}$`))
  })

  test('is refused before anything changes', async () => {
    const created = service()
    expect(() => created.registerWebhook({ url: 'https://x.example', hook_id: 'h', secert: 'x' } as never)).toThrow()
    expect(() => created.fail({ kind: 'hang', times: 2, onn: 'rewardWallet' } as never)).toThrow()
    expect(created.webhooks).toHaveLength(1)
    const headers = { authorization: 'Bearer any' }
    expect((await created.fetch('https://x.example/api/v1/campaign/info?pid=demo', { headers })).status).toBe(200)
  })
})

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
      /^createCampaignService: must be an object/,
    ],
    [
      'a campaign',
      () => createCampaignService({ campaigns: [null as never] }),
      /^createCampaignService: campaigns\.0: expected object, received null$/,
    ],
    [
      'a task',
      () => withCampaign({ actions: [null] }),
      /^createCampaignService: campaigns\.0\.actions\.0: expected object, received null$/,
    ],
    [
      'a user',
      () => withCampaign({ users: [undefined] }),
      /^createCampaignService: campaigns\.0\.users\.0: expected object, received undefined$/,
    ],
    [
      'a token',
      () => createCampaignService({ tokens: { t: true as never } }),
      /^createCampaignService: tokens: expected object, received boolean$/,
    ],
    [
      'a token for one campaign',
      () => createCampaignService({ tokens: { t: { campaigns: 'demo' as never } } }),
      /^createCampaignService: tokens\.campaigns: expected array, received string$/,
    ],
    ['a fault', () => service().fail(undefined as never), /^fail: kind must be 'status' or 'reset' or 'hang' or /],
    [
      'a kind instead of fault options',
      () => service().fail('reset' as never),
      /^fail: kind must be 'status' or 'reset' or 'hang' or /,
    ],
    ['an event', () => service().emit(undefined as never), /^emit: kind must be/],
  ])('is refused for %s', (_, call, message) => {
    expect(call).toThrow(TypeError)
    expect(call).toThrow(message)
  })
})

test('several misspelt options of one object list the known names once', () => {
  const seed = { campaigns: [{ id: 'c', nam: 'C', users: [], quest: [] }] }
  const options = 'the options are id, name, organization, registration, actions, quests, challenges, seasons, users, '
  expect(() => createCampaignService(seed as never)).toThrow(
    `createCampaignService: campaigns.0.nam is not an option; ${options}invite_codes; campaigns.0.quest is not an option`,
  )
  const error = (() => {
    try {
      return createCampaignService({ campaign: [], hooks: [] } as never)
    } catch (reason) {
      return String(reason)
    }
  })()
  expect(String(error).match(/the options are/g)).toHaveLength(1)
})
