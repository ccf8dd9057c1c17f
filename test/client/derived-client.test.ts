import {
  CampaignClient,
  type CampaignClientOptions,
  type CommonClientOptions,
  ConfigurationError,
  type DerivedClientOptions,
  InvalidRequestError,
  type WriteGuard,
} from 'campaign-client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { settle } from '../call/fake-time.ts'
import { whenIdle } from '../call/real-connections.ts'
import { refusal, respond, type Step, scriptedFetch } from '../call/scripted-fetch.ts'
import { type ScriptedTransport, scriptedTransports } from '../call/scripted-transports.ts'

afterEach(() => {
  vi.useRealTimers()
})

const BASE_URL = 'https://service.example/api/v1'
const done = respond(200, { success: true })
type Steps = readonly [Step, ...Step[]]

function parentOver(script: ScriptedTransport['script'], steps: Steps = [done], options = {}) {
  const { via, sent } = script(...steps)
  return { sent, parent: new CampaignClient({ baseUrl: BASE_URL, accessToken: 'parent', ...via, ...options }) }
}

const award = { address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'r-1', xp: 10 }

describe.each(scriptedTransports())('a derived client over $name', ({ script }) => {
  const parentWith = (steps?: Steps, options?: object) => parentOver(script, steps, options)

  test('has its own token and headers and does not change its parent', async () => {
    const { parent, sent } = parentWith([done], { headers: { 'x-team': 'parent', 'x-other': 'parent' } })
    const child = parent.with({ accessToken: 'child', headers: { 'x-team': 'child' } })
    await child.rewardWallet(award)
    await parent.rewardWallet(award)
    expect(sent.map(({ authorization }) => authorization)).toEqual(['Bearer child', 'Bearer parent'])
  })

  test("sends its own token to its own address, and the parent's token only to the parent's address", async () => {
    const { parent, sent } = parentWith()
    const child = parent.with({ baseUrl: 'https://tenant.example/api/v1', accessToken: 'child' })
    await child.rewardWallet(award)
    expect(sent).toMatchObject([{ url: 'https://tenant.example/api/v1/wallet/reward', authorization: 'Bearer child' }])
    const withoutToken = { baseUrl: 'https://tenant.example/api/v1' } as DerivedClientOptions
    expect(() => parent.with(withoutToken)).toThrow(ConfigurationError)
    expect(() => parent.with(withoutToken)).toThrow('CampaignClient.with: baseUrl needs its own accessToken')
  })

  test('shares the token source of its parent, so the source is called once', async () => {
    const accessToken = vi.fn(async () => 'from-the-source')
    const { parent } = parentWith([done], { accessToken })
    await Promise.all([parent.rewardWallet(award), parent.with({ maxRetries: 0 }).rewardWallet(award)])
    expect(accessToken).toHaveBeenCalledTimes(1)
  })

  test('keeps the options of its parent if its own are absent or undefined', async () => {
    const { parent, sent } = parentWith([refusal(503)], { maxRetries: 0 })
    await expect(parent.with({ maxRetries: undefined }).rewardWallet(award)).rejects.toThrow()
    expect(sent).toHaveLength(1)
  })

  test('of a subclass is a plain CampaignClient', async () => {
    class Tenant extends CampaignClient {}
    const { via, sent } = script(done)
    const tenant = new Tenant({ baseUrl: BASE_URL, accessToken: 'parent', ...via })
    const child = tenant.with({ accessToken: 'child' })
    expect(Object.getPrototypeOf(child)).toBe(CampaignClient.prototype)
    await child.rewardWallet(award)
    expect(sent).toMatchObject([{ authorization: 'Bearer child' }])
  })

  test.each([
    [{ fetch: globalThis.fetch }, 'fetch is not an option'],
    [{ transport: { send: () => undefined } }, 'transport is not an option'],
    [{ limits: { maxConcurrency: 1 } }, 'limits is not an option'],
    [{ maxRetries: -1 }, 'maxRetries must be a whole number, 0 or more, got -1'],
    [{ baseUrl: 'http://plain.example/api', accessToken: 'x' }, 'baseUrl must be https'],
    [null, 'must be an object'],
  ])('refuses %j', (options, message) => {
    const { parent } = parentWith()
    expect(() => parent.with(options as never)).toThrow(ConfigurationError)
    expect(() => parent.with(options as never)).toThrow(message)
  })

  test('reads inherited getters in its own options and in the options of its parent', async () => {
    const { fetch } = scriptedFetch(done)
    const sent: Record<string, string>[] = []
    class Options implements CommonClientOptions {
      get baseUrl() {
        return BASE_URL
      }
      get accessToken() {
        return 'inherited'
      }
      get fetch(): CampaignClientOptions['fetch'] {
        return (url, init) => {
          sent.push(init.headers)
          return fetch(url, init)
        }
      }
    }
    class ChildOptions {
      get headers() {
        return { 'x-team': 'child' }
      }
    }
    await new CampaignClient(new Options()).with(new ChildOptions()).rewardWallet(award)
    expect(sent).toMatchObject([{ authorization: 'Bearer inherited', 'x-team': 'child' }])
  })

  test.each<[string, unknown, unknown]>([
    ['accessToken', 'child', undefined],
    ['accessToken', 'child', 'another'],
    ['baseUrl', 'https://tenant.example/api/v1', 'https://elsewhere.example/api/v1'],
    ['headers', { 'x-team': 'child' }, { authorization: 'x' }],
    ['guard', { campaigns: ['demo'] }, {}],
    ['hooks', {}, 5],
    ['maxRetries', 0, -1],
  ])('reads %s only once', async (name, first, later) => {
    let reads = 0
    const options = { baseUrl: 'https://tenant.example/api/v1', accessToken: 'child', guard: { campaigns: ['demo'] } }
    const get = (): unknown => (reads++ === 0 ? first : later)
    const { parent, sent } = parentWith()
    const child = parent.with(Object.defineProperty(options, name, { get, enumerable: true }))
    await child.rewardWallet(award)
    expect(sent).toMatchObject([{ url: 'https://tenant.example/api/v1/wallet/reward', authorization: 'Bearer child' }])
    await expect(child.rewardWallet({ ...award, pid: 'other' })).rejects.toThrow(InvalidRequestError)
    expect(reads).toBe(1)
  })

  test('has the original headers of its parent, even if the headers object changes later', async () => {
    const headers: Record<string, string> = { 'x-team': 'first' }
    const seen: unknown[] = []
    const fetch: CampaignClientOptions['fetch'] = async (_, init) => {
      seen.push(init.headers['x-team'])
      return Response.json({ success: true })
    }
    const parent = new CampaignClient({ baseUrl: BASE_URL, accessToken: 'parent', fetch, headers })
    headers['x-team'] = 'second'
    await parent.with({ timeoutMs: 5_000 }).rewardWallet(award)
    expect(seen).toEqual(['first'])
  })

  test('shares maxConcurrency with its parent', async () => {
    let pending = 0
    let maxPending = 0
    const { parent } = parentWith(
      [
        async () => {
          maxPending = Math.max(maxPending, ++pending)
          await new Promise((resolve) => setTimeout(resolve, 5))
          pending--
          return Response.json({ success: true })
        },
      ],
      { limits: { maxConcurrency: 3 } },
    )
    const clients = [parent, parent.with({ accessToken: 'b' }), parent.with({ accessToken: 'c' })]
    await Promise.all(clients.flatMap((client) => Array.from({ length: 10 }, () => client.rewardWallet(award))))
    expect(maxPending).toBe(3)
  })

  test('with another token does not wait after a 429 of its parent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { parent, sent } = parentWith([refusal(429, { 'retry-after': '20' }), done])
    const limited = parent.rewardWallet(award)
    await whenIdle()
    const sameToken = parent.with({ maxRetries: 5 }).rewardWallet(award)
    await parent.with({ accessToken: 'another-tenant' }).rewardWallet(award)
    await vi.advanceTimersByTimeAsync(19_000)
    expect(sent).toHaveLength(2)
    await settle(Promise.all([limited, sameToken]))
    expect(sent).toHaveLength(4)
  })
})

describe.each(scriptedTransports())('over $name', ({ script }) => {
  const parentWith = (steps?: Steps, options?: object) => parentOver(script, steps, options)

  const user = { account: 'ada', platform: 'web' }
  const guarded = { guard: { campaigns: ['demo', 'spring'], maxXpPerAward: 100 } }

  test('a guard allows writes within its limits and all reads', async () => {
    const { parent, sent } = parentWith([done], guarded)
    await parent.rewardWallet({ ...award, xp: 0 })
    await parent.rewardWallet({ ...award, pid: 'spring', xp: 100 })
    const reader = parentWith([respond(200, { success: true, data: { used_by: [] } })], guarded)
    await reader.parent.getInviteCode({ code: 'c', pid: 'elsewhere' })
    expect(sent).toHaveLength(2)
  })

  test.each<[string, (client: CampaignClient) => Promise<unknown>, object]>([
    ['another campaign', (client) => client.rewardWallet({ ...award, pid: 'other' }), { path: ['pid'] }],
    ['more XP than maxXpPerAward', (client) => client.rewardWallet({ ...award, xp: 100.5 }), { path: ['xp'] }],
    ['negative XP', (client) => client.rewardWallet({ ...award, xp: -1 }), { path: ['xp'] }],
    ['a user of another campaign', (client) => client.updateUser({ ...user, pid: 'other' }), { path: ['pid'] }],
    [
      'a value in another campaign',
      (client) => client.recordActionValue({ ...user, pid: 'other', cid: 'q', aid: 't', value: 1 }),
      { path: ['pid'] },
    ],
    [
      'a referral in another campaign',
      (client) => client.setReferrer({ referrer: 'a', referral: 'b', platform: 'web', pid: 'other' }),
      { path: ['pid'] },
    ],
    [
      'a write without a campaign',
      (client) => client.registerWebhook({ scope: 'user_activity', url: 'https://partner.example' }),
      { path: [] },
    ],
  ])('a guard refuses %s, and nothing is sent', async (_, run, issue) => {
    const { parent, sent } = parentWith([done], { ...guarded, webhookRegistrationPath: 'webhooks' })
    const error = await run(parent).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(InvalidRequestError)
    expect(error).toMatchObject({ outcome: 'not_applied', issues: [issue] })
    expect(sent).toHaveLength(0)
  })

  test('a guard of a derived client can only be stricter', async () => {
    const { parent, sent } = parentWith([done], guarded)
    const wider = parent.with({ guard: { campaigns: ['demo', 'other'], maxXpPerAward: 1_000 } })
    await wider.rewardWallet(award)
    await expect(wider.rewardWallet({ ...award, pid: 'spring' })).rejects.toThrow(InvalidRequestError)
    await expect(wider.rewardWallet({ ...award, pid: 'other' })).rejects.toThrow(InvalidRequestError)
    await expect(wider.rewardWallet({ ...award, xp: 101 })).rejects.toThrow(InvalidRequestError)
    const narrower = wider.with({ guard: { maxXpPerAward: 5 } }).with({ guard: { maxXpPerAward: 50 } })
    await expect(narrower.rewardWallet({ ...award, xp: 6 })).rejects.toThrow(InvalidRequestError)
    expect(sent).toHaveLength(1)
  })

  const guards: [string, () => { guard: WriteGuard; change?: () => unknown }][] = [
    [
      'a guard whose list of campaigns changes later',
      () => {
        const campaigns = ['demo']
        return { guard: { campaigns }, change: () => campaigns.push('other') }
      },
    ],
    [
      'a guard that changes later',
      () => {
        const guard: { campaigns?: string[] } = { campaigns: ['demo'] }
        return { guard, change: () => delete guard.campaigns }
      },
    ],
    [
      'a guard whose getter returns another value later',
      () => {
        let reads = 0
        return {
          guard: {
            get campaigns() {
              return reads++ === 0 ? ['demo'] : undefined
            },
          },
        }
      },
    ],
    ['a guard with inherited fields', () => ({ guard: Object.create({ campaigns: ['demo'] }) as WriteGuard })],
  ]

  test.each(guards)(
    '%s keeps its original limits, in derived clients and if it is passed to `with`',
    async (_, given) => {
      const { via, sent } = script(done)
      const options = { baseUrl: BASE_URL, accessToken: 'parent', ...via }
      const [own, passed] = [given(), given()]
      const parent = new CampaignClient({ ...options, guard: own.guard })
      own.change?.()
      const derived = new CampaignClient(options).with(Object.create({ guard: passed.guard }))
      passed.change?.()
      const clients = [parent, parent.with({ timeoutMs: 5_000 }), derived]
      for (const client of clients) {
        await expect(client.rewardWallet({ ...award, pid: 'other' })).rejects.toThrow(InvalidRequestError)
      }
      expect(sent).toHaveLength(0)
    },
  )

  test('a guard with a sparse list of campaigns is refused', () => {
    const holes: string[] = ['demo']
    holes.length = 2
    expect(() => parentWith([done], { guard: { campaigns: holes } })).toThrow(
      'guard.campaigns must be a list of campaign IDs',
    )
  })
})
