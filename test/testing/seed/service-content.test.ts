import { ConfigurationError } from 'campaign-client'
import {
  type CampaignService,
  createCampaignService,
  createManualClock,
  demoCampaign,
  type ServiceSeed,
} from 'campaign-client/testing'
import { signWebhook } from 'campaign-client/webhook'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { campaigns, run, steps } from '../random-use.ts'
import { caller, refused } from '../rest.ts'

const HOOK = 'https://partner.example/hook'
const SECRET = 'the secret of the hook'

const start = (seed: ServiceSeed) =>
  createCampaignService({ ...seed, idSeed: 's', clock: createManualClock(), deliver: () => new Response() })
const viaJson = (seed: ServiceSeed): ServiceSeed => JSON.parse(JSON.stringify(seed))

/** Returns the state without generated IDs, and the last responses. */
const progressOf = ({ state, requests }: CampaignService, last: number) => ({
  entries: state.entries.map(({ id: _, ref_id: __, ...entry }) => entry),
  awards: state.awards,
  values: state.values,
  answers: requests.slice(requests.length - last).map(({ status, reason }) => [status, reason]),
})

describe('exportSeed', () => {
  test('returns a seed for a service with the same state and behaviour', async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, after) => {
        const original = start({ campaigns })
        await run(original, before)
        const seed = original.exportSeed({ secrets: true })
        const copy = start(viaJson(seed))
        expect(copy.state).toEqual(original.state)
        expect(copy.webhooks).toEqual(original.webhooks)
        expect(copy.exportSeed({ secrets: true })).toEqual(seed)

        const requestsBefore = original.requests.length
        await run(original, after)
        await run(copy, after)
        expect(progressOf(copy, copy.requests.length)).toEqual(
          progressOf(original, original.requests.length - requestsBefore),
        )
      }),
      { numRuns: 60 },
    )
  })

  test('contains the challenges and the invite codes', () => {
    const { campaigns: [demo] = [] } = createCampaignService().exportSeed()
    expect(demo?.challenges).toMatchObject(demoCampaign.challenges ?? [])
    expect(demo?.invite_codes).toEqual([
      { code: 'WELCOME-2026', used_by: ['ada', 'grace'] },
      { code: 'UNUSED-2026', used_by: [] },
    ])
  })

  test('returns a seed that reset loads; a reset without it restores the initial state', async () => {
    const service = start({ campaigns })
    const initial = service.state
    service.completeTask({ account: 'ada', platform: 'discord', pid: 'one', aid: 'a' })
    const { state } = service
    const seed = service.exportSeed()
    service.reset()
    expect(service.state).toEqual(initial)
    service.reset(viaJson(seed))
    expect(service.state).toEqual(state)
    service.reset()
    expect(service.state).toEqual(initial)
  })

  test('returns a copy, with all accounts of each user', () => {
    const service = start({ campaigns })
    const seed = service.exportSeed()
    const before = viaJson(seed)
    expect(seed.campaigns?.[0]?.users?.[1]?.profiles).toEqual([{ account: 'bob', platform: 'discord' }])
    service.completeTask({ account: 'ada', platform: 'discord', pid: 'one', aid: 'a' })
    expect(seed).toEqual(before)
    Object.assign(seed.campaigns?.[0]?.actions?.[0]?.meta ?? {}, { icon: 'changed' })
    expect(service.exportSeed().campaigns?.[0]?.actions?.[0]?.meta).toMatchObject({ icon: 'star' })
  })

  test('returns a seed whose IDs are not generated again', async () => {
    const register = (service: CampaignService, account: string) =>
      caller(service.fetch).post('/user', { account, platform: 'discord', pid: 'one' })
    const service = start({ campaigns })
    await register(service, 'eve')
    service.registerWebhook({ url: HOOK })
    const copy = start(service.exportSeed())
    copy.registerWebhook({ url: HOOK })
    for (const account of ['mallory', 'trent', 'peggy']) await register(copy, account)
    const hooks = copy.webhooks.map(({ hook_id }) => hook_id)
    const links = copy.state.entries.flatMap(({ id, ref_id }) => [id, ref_id])
    for (const ids of [hooks, links]) expect(new Set(ids).size).toBe(ids.length)
    expect(hooks).toHaveLength(2)
  })

  test.each([{ id: 'entry_s_1' }, { ref_id: 'ref_s_2' }])(
    'a new service does not generate an ID that the seed contains: %j',
    (ids) => {
      const users = [
        { account: 'a', platform: 'p' },
        { account: 'b', platform: 'p', ...ids },
      ]
      expect(start({ campaigns: [{ id: 'c', users }] }).state.entries[1]).toMatchObject(ids)
    },
  )

  test('a new service does not generate the ID of a webhook that the seed contains', () => {
    const webhooks = [{ url: HOOK }, { url: `${HOOK}/2`, hook_id: 'hook_s_1' }]
    expect(start({ campaigns: [{ id: 'c' }], webhooks }).webhooks).toHaveLength(2)
  })

  test('keeps used reward IDs', async () => {
    const reward = { address: `0x${'1'.repeat(40)}`, pid: 'one', id: 'r', xp: 1 }
    const service = start({ campaigns })
    await caller(service.fetch).post('/wallet/reward', reward)
    const copy = start(service.exportSeed())
    expect(await caller(copy.fetch).post('/wallet/reward', reward)).toMatchObject(refused(400))
  })

  test('does not export an address that starts with 0X as a wallet', async () => {
    const account = `0X${'a'.repeat(40)}`
    const service = start({ campaigns })
    await caller(service.fetch).post('/user', { account, platform: 'ethereum', pid: 'one' })
    expect(service.state.entries.at(-1)).toMatchObject({ account, wallet: '' })
    expect(start(service.exportSeed()).state).toEqual(service.state)
  })

  test('exports secrets only with `secrets: true`, and otherwise marks signed webhooks', async () => {
    const signatures: (string | null)[] = []
    const service = start({ campaigns })
    service.registerWebhook({ url: HOOK, secret: SECRET, hook_id: 'signed', campaigns: ['one'], organization: 'demo' })
    service.registerWebhook({ url: [HOOK, `${HOOK}/2`], hook_id: 'open' })
    const seed = service.exportSeed()
    expect(JSON.stringify(seed)).not.toContain(SECRET)
    expect(seed.webhooks).toEqual([
      {
        hook_id: 'signed',
        scope: 'user_activity',
        url: [HOOK],
        signed: true,
        campaigns: ['one'],
        organization: 'demo',
      },
      { hook_id: 'open', scope: 'user_activity', url: [HOOK, `${HOOK}/2`], campaigns: [] },
    ])
    const complete = service.exportSeed({ secrets: true })
    const copy = createCampaignService({
      ...complete,
      deliver(request) {
        signatures.push(request.headers.get('x-service-signature'))
        return new Response()
      },
    })
    copy.completeTask({ account: 'ada', platform: 'discord', pid: 'one', aid: 'a' })
    await copy.settle()
    expect(signatures.filter((signature) => signature !== null)).toHaveLength(1)
  })

  describe('a seed without the secret of a signed webhook', () => {
    const signedSeed = () => {
      const service = start({ campaigns })
      service.registerWebhook({ url: HOOK, secret: SECRET, hook_id: 'signed' })
      return viaJson(service.exportSeed())
    }
    const follow = { kind: 'custom', payload: {} } as const

    test('keeps the secret of the running service', async () => {
      const service = start({ campaigns })
      service.registerWebhook({ url: `${HOOK}/before`, secret: 'the current secret', hook_id: 'signed' })
      service.reset(signedSeed())
      expect(service.webhooks).toEqual([
        { hook_id: 'signed', scope: 'user_activity', urls: [HOOK], signed: true, campaigns: [] },
      ])
      const { body } = service.emit(follow)
      expect(service.deliveries[0]?.signature).toBe(signWebhook('the current secret', body))
    })

    test('gives secretMissing again after reset(), even if the secret was set before', () => {
      const service = start(signedSeed())
      service.registerWebhook({ url: HOOK, secret: SECRET, hook_id: 'signed' })
      expect(service.webhooks).toMatchObject([{ signed: true }])
      service.reset()
      expect(service.webhooks).toMatchObject([{ signed: false, secretMissing: true }])
    })

    test.each([
      ['a new service', () => start(signedSeed())],
      [
        'a running service that lacks the webhook',
        () => {
          const service = start({ campaigns })
          service.registerWebhook({ url: HOOK, secret: SECRET, hook_id: 'another' })
          service.reset(signedSeed())
          return service
        },
      ],
    ])('loaded into %s, gives an unsigned webhook with secretMissing until the secret is set', (_, create) => {
      const service = create()
      expect(service.webhooks).toEqual([
        { hook_id: 'signed', scope: 'user_activity', urls: [HOOK], signed: false, secretMissing: true, campaigns: [] },
      ])
      service.emit(follow)
      expect(service.deliveries[0]).not.toHaveProperty('signature')
      expect(service.exportSeed()).toEqual({ ...signedSeed() })
      service.registerWebhook({ url: HOOK, secret: SECRET, hook_id: 'signed' })
      expect(service.webhooks[0]).toMatchObject({ signed: true })
      expect(service.webhooks[0]).not.toHaveProperty('secretMissing')
    })

    test('does not give the secret to an unsigned webhook with the same ID', () => {
      const service = start({ campaigns })
      service.registerWebhook({ url: HOOK, secret: SECRET, hook_id: 'signed' })
      service.reset({ campaigns, webhooks: [{ url: HOOK, hook_id: 'signed' }] })
      expect(service.webhooks).toEqual([
        { hook_id: 'signed', scope: 'user_activity', urls: [HOOK], signed: false, campaigns: [] },
      ])
    })
  })
})

describe('reset with a seed', () => {
  test.each([
    [{ campaigns: [{ id: '' }] }, /^reset: campaigns\.0\.id must not be empty/],
    [{ webhooks: [{ url: HOOK, secret: '\0' }] }, /^reset: webhooks\.0\.secret must not consist of zero bytes/],
    [{ webhooks: [{ url: 'x' }] }, /^reset: webhooks\.0\.url must be an absolute http or https URL/],
    [
      {
        webhooks: [
          { url: HOOK, hook_id: 'a' },
          { url: HOOK, hook_id: 'a' },
        ],
      },
      /^reset: webhooks\.1\.hook_id is a duplicate/,
    ],
    [{ awards: [{ id: 'r', pid: 'one', address: '0x', xp: 1, at: 0 }] }, /^reset: awards\.0\.address must be 0x/],
    [{ values: [{}] }, /^reset: values\.0\.account: expected string/],
    [null, /^reset: the options: expected object, received null/],
  ])('refuses %j and changes nothing', async (seed, message) => {
    const clock = createManualClock({ startMs: 1_000 })
    const service = createCampaignService({ campaigns, clock })
    service.registerWebhook({ url: HOOK })
    service.fail({ kind: 'reset' })
    await clock.advance(5)
    const { state } = service
    expect(() => service.reset(seed as never)).toThrow(ConfigurationError)
    expect(() => service.reset(seed as never)).toThrow(message)
    expect(service.state).toEqual(state)
    expect([service.webhooks.length, service.faults.length, clock.now()]).toEqual([1, 1, 1_005])
  })
})
