import { type CampaignSeed, createCampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller, ok, refused, stringError } from './rest.ts'

const WALLET = '0xAbCdEf0000000000000000000000000000000001'
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
const linus = { ...ada, account: 'linus' }

const start = (campaign?: Omit<CampaignSeed, 'id'>) => {
  const service = createCampaignService({ ...(campaign && { campaigns: [{ id: 'demo', ...campaign }] }), idSeed: 7 })
  const { get, post } = caller(service.fetch)
  return {
    service,
    get,
    post,
    progress: async (account: string, platform = 'discord') => {
      const response = await get('/user/progress', { account, platform, pid: 'demo' })
      expect(response.status).toBe(200)
      return (response.body as { data: Record<string, unknown> }).data
    },
    record: (account: string, cid: string, aid: string, value = 1) =>
      post('/action/value', { account, platform: 'discord', pid: 'demo', cid, aid, value }),
    refer: (referrer: string, referral: string) =>
      post('/user/referrer', { referrer, referral, platform: 'discord', pid: 'demo' }),
  }
}

describe('GET /user/progress', () => {
  test('returns every task, quest and challenge with its status, and the totals', async () => {
    const { progress } = start()
    const data = await progress('ada')
    expect(data).toMatchObject({
      id: expect.stringMatching(/^entry_/),
      user_id: 'ada',
      name: 'Ada',
      rewards: [{ id: 'reward-ada-1', reward: '1000', type: 'xp' }],
      total: 1215,
      xp: 1170,
      ref_xp: 5,
      ugc_xp: 40,
      xp_mul: 1,
      rank: 1,
      team: 'analysts',
    })
    const statuses = (entries: unknown) =>
      Object.fromEntries((entries as { id: string; status: string }[]).map(({ id, status }) => [id, status]))
    expect(statuses(data.actions)).toEqual({
      'connect-wallet': 'completed',
      follow: 'completed',
      share: 'none',
      'daily-visit': 'none',
      feedback: 'none',
    })
    expect(statuses(data.quests)).toEqual({ welcome: 'completed', 'spread-the-word': 'none' })
    expect(statuses(data.challenges)).toEqual({ 'all-rounder': 'none', regular: 'none' })
    expect(data.quests).toMatchObject([{ actions: ['connect-wallet', 'follow', 'feedback'] }, { xp_mul: 2 }])
    expect((data.actions as unknown[]).slice(0, 2)).toMatchObject([
      { meta: { icon: 'wallet' } },
      { meta: null, xp: 20, xp_mul: 1 },
    ])
  })

  test('responds with 400 for an unknown user, and does not register the user', async () => {
    const service = createCampaignService({
      campaigns: [{ id: 'demo' }, { id: 'other', users: [{ account: 'ada', platform: 'discord' }] }],
    })
    const { get } = caller(service.fetch)
    expect(await get('/user/progress', ada)).toMatchObject(refused(400))
    expect(await get('/user/profiles', ada)).toMatchObject(refused(400))
    expect(await get('/user/progress', { ...ada, account: 'nobody' })).toMatchObject(refused(400))
    expect(service.state.entries).toHaveLength(1)
  })

  test('ranks users by total XP; users with equal XP share a rank', async () => {
    const users = [
      { account: 'a', platform: 'discord', xp: 10 },
      { account: 'b', platform: 'discord', xp: 5, ref_xp: 20 },
      { account: 'c', platform: 'discord', ugc_xp: 10 },
      { account: 'd', platform: 'discord' },
    ]
    const { progress } = start({ users })
    const ranks = await Promise.all(users.map(async ({ account }) => (await progress(account)).rank))
    expect(ranks).toEqual([2, 1, 2, 4])
  })
})

describe('POST /wallet/reward', () => {
  const award = { address: WALLET, pid: 'demo', id: 'reward-1', xp: 25 }

  test('registers a new address, adds the XP and the reward', async () => {
    const { service, post, progress } = start()
    expect(await post('/wallet/reward', award)).toMatchObject(ok())
    const expected = { xp: 25, total: 25, rewards: [{ id: 'reward-1', reward: '25', type: 'xp' }] }
    expect(await progress(WALLET, 'ethereum')).toMatchObject({ user_id: WALLET, ...expected })
    expect(service.state.awards).toMatchObject([{ id: 'reward-1', address: WALLET, xp: 25, pid: 'demo' }])
    expect(service.state.entries.at(-1)).toMatchObject({ wallet: WALLET, account: WALLET, total: 25 })
  })

  test('refuses a second use of the id, for any address and in any campaign', async () => {
    const service = createCampaignService({ campaigns: [{ id: 'demo' }, { id: 'other' }] })
    const { post } = caller(service.fetch)
    await post('/wallet/reward', award)
    expect(await post('/wallet/reward', award)).toMatchObject(refused(400))
    expect(await post('/wallet/reward', { ...award, address: `0x${'2'.repeat(40)}` })).toMatchObject(refused(400))
    expect(await post('/wallet/reward', { ...award, pid: 'other' })).toMatchObject(refused(400))
    expect(service.state.awards).toHaveLength(1)
    expect(service.state.entries, 'a refused award registers no user').toHaveLength(1)
    expect(service.requests.at(-1)?.reason).toBe('the reward id "reward-1" has been used before')
  })

  test('refuses the id of a seeded reward', async () => {
    const { post } = start()
    expect(await post('/wallet/reward', { ...award, id: 'reward-ada-1' })).toMatchObject(refused(400))
  })

  test('finds the user of a wallet in any letter case and on every platform', async () => {
    const { service, post, progress } = start()
    await post('/wallet/reward', award)
    await post('/wallet/reward', { ...award, address: WALLET.toLowerCase(), id: 'reward-2' })
    expect(await progress(WALLET, 'anything')).toMatchObject({ xp: 50 })
    await post('/wallet/reward', { ...award, address: '0xADA0000000000000000000000000000000000001', id: 'reward-3' })
    expect(await progress('ada')).toMatchObject({ xp: 1195 })
    expect(service.state.entries).toHaveLength(4)
  })

  test('refuses an award after which the XP would not be a finite number', async () => {
    const { service, post } = start()
    await post('/wallet/reward', { ...award, xp: 1.7e308 })
    expect(await post('/wallet/reward', { ...award, id: 'reward-2', xp: 1.7e308 })).toMatchObject(refused(400))
    expect(service.state.awards).toHaveLength(1)
  })
})

describe('POST /user/referrer', () => {
  test('registers both users and sets the referrer', async () => {
    const { service, get, refer } = start()
    expect(await refer('new-1', 'new-2')).toMatchObject(ok({}))
    expect(service.state.entries.slice(-2)).toMatchObject([
      { account: 'new-1', name: 'new-1', alias: '', team: '', wallet: '', email: '' },
      { account: 'new-2', referrer: 'new-1', profiles: [{ account: 'new-2', platform: 'discord' }] },
    ])
    const profiles = await get('/user/profiles', { ...ada, account: 'new-1' })
    expect(profiles.body).toMatchObject({ data: { refs: 1, ref_count: 1 } })
  })

  test('responds to a self-referral with the string error, and registers no user', async () => {
    const { service, refer } = start()
    expect(await refer('new-1', 'new-1')).toMatchObject(stringError('self_referral_not_allowed'))
    expect(service.state.entries).toHaveLength(3)
  })

  test('treats two accounts of one user as a self-referral', async () => {
    const users = [{ account: 'ada', platform: 'discord', profiles: [{ account: 'ada-2', platform: 'discord' }] }]
    expect(await start({ users }).refer('ada', 'ada-2')).toMatchObject(stringError('self_referral_not_allowed'))
  })

  test.each(['open', 'closed'] as const)(
    'treats an unknown wallet in two letter cases as a self-referral if registration is %s',
    async (registration) => {
      const { refer, service } = start({ registration })
      expect(await refer(WALLET, WALLET.toLowerCase())).toMatchObject(stringError('self_referral_not_allowed'))
      expect(service.state.entries).toEqual([])
    },
  )

  test('refuses a referral with a referrer or with completed tasks', async () => {
    const { refer, service } = start()
    expect(await refer('linus', 'grace')).toMatchObject(refused(400))
    expect(service.requests.at(-1)?.reason).toBe('the user "grace" has a referrer already')
    expect(await refer('linus', 'ada')).toMatchObject(refused(400))
    expect(service.requests.at(-1)?.reason).toBe('the user "ada" has completed tasks')
    expect(await refer('ada', 'linus')).toMatchObject(ok({}))
    expect(await refer('ada', 'linus'), 'even the same referrer again').toMatchObject(refused(400))
    expect(await refer('new', 'grace')).toMatchObject(refused(400))
    expect(service.state.entries, 'a refused referral registers no user').toHaveLength(3)
  })

  test('responds with missing_user if registration is closed', async () => {
    const users = ['ada', 'grace'].map((account) => ({ account, platform: 'discord' }))
    const { refer, post, service } = start({ users, registration: 'closed' })
    expect(await refer('nobody', 'ada')).toMatchObject(stringError('missing_user'))
    expect(await refer('ada', 'nobody')).toMatchObject(stringError('missing_user'))
    expect(await refer('ada', 'grace')).toMatchObject(ok({}))
    expect(await post('/user', { ...ada, account: 'nobody' })).toMatchObject(refused(400))
    expect(await post('/wallet/reward', { address: WALLET, pid: 'demo', id: 'r', xp: 1 })).toMatchObject(refused(400))
    expect(service.state.entries).toHaveLength(2)
    expect(service.state.awards).toEqual([])
  })
})

test('a user of another campaign is unknown if registration is closed', async () => {
  const service = createCampaignService({
    campaigns: [
      { id: 'demo', registration: 'closed', users: [{ account: 'ada', platform: 'discord' }] },
      { id: 'other', users: [{ account: 'eve', platform: 'discord' }] },
    ],
  })
  const { post } = caller(service.fetch)
  const referral = { referrer: 'eve', referral: 'ada', platform: 'discord', pid: 'demo' }
  expect(await post('/user/referrer', referral)).toMatchObject(stringError('missing_user'))
  expect(await post('/user', { ...ada, account: 'eve' })).toMatchObject(refused(400))
  expect(service.requests.map(({ reason }) => reason)).toEqual([
    'there is no user "eve"',
    '"eve" has no entry in the campaign, whose registration is closed',
  ])
  expect(service.state.entries).toHaveLength(2)
})

describe('POST /user/ref_id', () => {
  const follow = (link: string, account = 'new') => ({ ...ada, account, ref_id: link })

  test('sets the owner of the link as the referrer', async () => {
    const { service, post } = start()
    expect(await post('/user/ref_id', follow('ref-ada'))).toMatchObject(ok({}))
    expect(service.state.entries.at(-1)).toMatchObject({ account: 'new', referrer: 'ada' })
  })

  test('accepts the link of a new user', async () => {
    const { service, post } = start()
    await post('/user', { ...ada, account: 'new' })
    const link = service.state.entries.at(-1)?.ref_id as string
    expect(await post('/user/ref_id', follow(link, 'newer'))).toMatchObject(ok({}))
    expect(service.state.entries.at(-1)).toMatchObject({ account: 'newer', referrer: 'new' })
  })

  test.each([
    ['an unknown link', follow('ref-nobody'), 'there is no referral link "ref-nobody" in the campaign'],
    ['the user’s own link', follow('ref-linus', 'linus'), 'the referral link "ref-linus" is the user\'s own'],
    ['a user with a referrer', follow('ref-linus', 'grace'), 'the user "grace" has a referrer already'],
  ])('refuses %s', async (_, body, reason) => {
    const { service, post } = start()
    expect(await post('/user/ref_id', body)).toMatchObject(refused(400))
    expect(service.requests[0]?.reason).toBe(reason)
    expect(service.state.entries).toHaveLength(3)
  })

  test('refuses the user’s own link even if the wallet has another letter case', async () => {
    const { service, post } = start({ users: [{ account: WALLET, platform: 'ethereum', ref_id: 'own' }] })
    expect(await post('/user/ref_id', follow('own', WALLET.toLowerCase()))).toMatchObject(refused(400))
    expect(service.requests[0]?.reason).toBe('the referral link "own" is the user\'s own')
  })

  test('refuses a link of another campaign', async () => {
    const campaigns = [
      { id: 'demo', users: [{ account: 'ada', platform: 'discord', ref_id: 'link' }] },
      { id: 'other' },
    ]
    const { post } = caller(createCampaignService({ campaigns }).fetch)
    expect(await post('/user/ref_id', { ...follow('link'), pid: 'other' })).toMatchObject(refused(400))
  })
})

describe('POST /user', () => {
  test('creates the user and the entry, and changes only the given fields', async () => {
    const { service, post, progress } = start()
    const body = { ...ada, account: 'new', name: 'New', alias: 'n', team: 'red' }
    expect(await post('/user', body)).toMatchObject(ok({}))
    expect(await progress('new')).toMatchObject({ name: 'New', team: 'red', total: 0 })
    await post('/user', { ...ada, account: 'new', team: '' })
    expect(service.state.entries.at(-1)).toMatchObject({ name: 'New', alias: 'n', team: '' })
  })

  test('sets the name in one campaign', async () => {
    const service = createCampaignService({ campaigns: [{ id: 'demo' }, { id: 'other' }] })
    const { post } = caller(service.fetch)
    await post('/user', { ...ada, name: 'Here' })
    await post('/user', { ...ada, pid: 'other', name: 'There' })
    expect(service.state.entries).toMatchObject([
      { pid: 'demo', name: 'Here' },
      { pid: 'other', name: 'There' },
    ])
  })
})

describe('POST /action/value', () => {
  test('completes the task, then the quest, and gives the XP of both', async () => {
    const { record, progress, service } = start()
    expect(await record('linus', 'welcome', 'connect-wallet', 3)).toMatchObject(ok())
    expect(await progress('linus')).toMatchObject({ xp: 50 })
    expect(await record('linus', 'welcome', 'follow')).toMatchObject(ok())
    expect(await progress('linus'), 'the optional task is not needed').toMatchObject({ xp: 50 + 20 + 100 })
    expect(service.state.entries[2]?.completed).toEqual(['connect-wallet', 'follow', 'welcome'])
    expect(service.state.values[0]).toMatchObject({ ...linus, cid: 'welcome', aid: 'connect-wallet', value: 3 })
  })

  test('applies multipliers, and completes quests and challenges after their dependencies', async () => {
    const { record, progress } = start()
    await record('ada', 'spread-the-word', 'share')
    expect(await progress('ada')).toMatchObject({ xp: 1170 + 30 * 1.5 })
    await record('ada', 'spread-the-word', 'daily-visit')
    const data = await progress('ada')
    expect(data.xp).toBe(1170 + 45 + 5 + 150 * 2 + 500 + 25)
    expect(data.challenges).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
  })

  test('applies the multiplier of the user', async () => {
    const { record, progress } = start({
      actions: [{ id: 't', xp: 10, xp_mul: 2 }],
      quests: [{ id: 'q', actions: ['t'], xp: 100 }],
      users: [{ account: 'ada', platform: 'discord', xp_mul: 1.5 }],
    })
    await record('ada', 'q', 't')
    expect(await progress('ada')).toMatchObject({ xp: 10 * 2 * 1.5 + 100 * 1.5, xp_mul: 1.5 })
  })

  test('gives the referrer the ref_xp of the task', async () => {
    const { record, refer, progress } = start()
    await refer('ada', 'linus')
    await record('linus', 'welcome', 'connect-wallet')
    expect(await progress('ada')).toMatchObject({ ref_xp: 10, total: 1220, xp: 1170 })
  })

  test('records every value, and gives XP again only for recurring tasks', async () => {
    const { record, progress, service } = start()
    for (let times = 0; times < 2; times++) {
      expect(await record('linus', 'welcome', 'connect-wallet')).toMatchObject(ok())
    }
    expect(await progress('linus')).toMatchObject({ xp: 50 })
    expect(service.state.values).toHaveLength(2)
    for (let times = 0; times < 2; times++) await record('ada', 'spread-the-word', 'daily-visit')
    expect(await progress('ada')).toMatchObject({ xp: 1170 + 5 + 5 + 25 })
  })

  test.each([
    ['an unknown user', ['nobody', 'welcome', 'follow'], 'there is no user "nobody" on "discord"'],
    ['an unknown quest', ['ada', 'nothing', 'follow'], 'cid: there is no quest "nothing" in the campaign'],
    ['an unknown task', ['ada', 'welcome', 'nothing'], 'aid: there is no task "nothing" in the quest "welcome"'],
    ['a task of another quest', ['ada', 'welcome', 'share'], 'aid: there is no task "share" in the quest "welcome"'],
    [
      'a task before its dependencies',
      ['linus', 'welcome', 'follow'],
      'complete the dependencies first: connect-wallet',
    ],
    [
      'a quest before its dependencies',
      ['linus', 'spread-the-word', 'daily-visit'],
      'complete the dependencies first: welcome',
    ],
  ] as const)('refuses %s', async (_, [account, cid, aid], reason) => {
    const { record, service } = start()
    expect(await record(account, cid, aid)).toMatchObject(refused(400))
    expect(service.requests[0]?.reason).toBe(reason)
    expect(service.state.values).toEqual([])
  })

  test('requires all tasks of a quest with only optional tasks', async () => {
    const { record, service } = start({
      actions: [
        { id: 'a', is_optional: true },
        { id: 'b', is_optional: true },
      ],
      quests: [{ id: 'q', actions: ['a', 'b'] }],
      users: [{ account: 'ada', platform: 'discord' }],
    })
    await record('ada', 'q', 'a')
    expect(service.state.entries[0]?.completed).toEqual(['a'])
    await record('ada', 'q', 'b')
    expect(service.state.entries[0]?.completed).toEqual(['a', 'b', 'q'])
  })
})

describe('reads', () => {
  test('GET /campaign/info returns the definitions, with numbers as strings where the API description has strings', async () => {
    const response = await start().get('/campaign/info', { pid: 'demo' })
    const { data } = response.body as { data: { actions: unknown[]; quests: unknown[] } }
    expect(data).toMatchObject({ id: 'demo', name: 'Demo campaign' })
    expect(data.actions[2]).toEqual({
      id: 'share',
      name: 'Share a post',
      type: 'social',
      recurrence: 'once',
      ref_xp: '3',
      xp: 30,
      xp_mul: '1.5',
      meta: {},
      deps: ['follow'],
      is_optional: false,
    })
    expect(data.quests[1]).toEqual({
      id: 'spread-the-word',
      name: 'Spread the word',
      actions: ['share', 'daily-visit'],
      xp: 150,
      xp_mul: '2',
      meta: { badge: 'megaphone' },
      deps: ['welcome'],
    })
  })

  test.each([
    [99, 0, 'one', 99],
    [100, 1, 'two', 0],
    [300, 1, 'two', 200],
    [1000, 1, 'two', 900],
  ])('GET /campaign/points: %i points are in season %i', async (xp, index, name, points) => {
    const seasons = [
      { name: 'one', max_xp: 100 },
      { name: 'two', max_xp: 300 },
    ]
    const { get } = start({ seasons, users: [{ account: 'ada', platform: 'discord', xp }] })
    expect((await get('/campaign/points', { pid: 'demo' })).body).toEqual({
      success: true,
      data: {
        id: 'demo',
        name: 'demo',
        total_points: xp,
        season_points: points,
        season_index: index,
        season: { name, max_xp: index === 0 ? 100 : 300 },
      },
    })
  })

  test('GET /user/profiles returns every linked account', async () => {
    expect((await start().get('/user/profiles', ada)).body).toEqual({
      success: true,
      data: {
        user_id: 'ada',
        xp: 1170,
        ref_xp: 5,
        ugc_xp: 40,
        refs: 1,
        ref_count: 1,
        profiles: [
          { account: 'ada', platform: 'discord' },
          { account: 'ada@campaign.example', platform: 'email' },
          { account: '0xada0000000000000000000000000000000000001', platform: 'ethereum' },
        ],
      },
    })
  })

  test('GET /user/progress finds a user by any linked account, and returns the requested account', async () => {
    expect(await start().progress('ada@campaign.example', 'email')).toMatchObject({
      user_id: 'ada@campaign.example',
      name: 'Ada',
    })
  })

  test('GET /code returns the accounts that used the code, or 400 for an unknown code', async () => {
    const { get } = start()
    expect(await get('/code', { code: 'WELCOME-2026', pid: 'demo' })).toMatchObject(ok({ used_by: ['ada', 'grace'] }))
    expect(await get('/code', { code: 'UNUSED-2026', pid: 'demo' })).toMatchObject(ok({ used_by: [] }))
    expect(await get('/code', { code: 'nothing', pid: 'demo' })).toMatchObject(refused(400))
  })
})
