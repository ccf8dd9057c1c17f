import { CampaignClient } from 'campaign-client'
import { type CampaignService, createCampaignService, createManualClock } from 'campaign-client/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { BASE_URL } from './rest.ts'

const WALLET = `0x${'1'.repeat(40)}`
const ada = { account: 'ada', platform: 'discord', pid: 'demo' }
const queryNames = { getCampaignInfo: { pid: 'id' }, getInviteCode: { code: 'invite' } }

const closes: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closes.splice(0)) await close()
})

const connect = async (way: 'fetch' | 'listen', service: CampaignService): Promise<CampaignClient> => {
  const options = { accessToken: 'any', queryNames: queryNames, webhookRegistrationPath: 'webhook' }
  if (way === 'fetch') return new CampaignClient({ ...options, baseUrl: BASE_URL, fetch: service.fetch })
  const server = await service.listen()
  closes.push(server.close)
  return new CampaignClient({ ...options, baseUrl: server.url })
}

describe.each(['fetch', 'listen'] as const)('the client over %s', (way) => {
  test('calls all eleven methods', async () => {
    const service = createCampaignService({ queryNames })
    const client = await connect(way, service)
    expect(await client.getUserProgress(ada)).toMatchObject({ user_id: 'ada', total: 1215 })
    await client.rewardWallet({ address: WALLET, pid: 'demo', id: 'r', xp: 1 })
    expect(await client.setReferrer({ referrer: 'ada', referral: 'linus', platform: 'discord', pid: 'demo' })).toEqual(
      {},
    )
    expect(await client.updateUser({ ...ada, team: 'red' })).toEqual({})
    expect(await client.setReferrerByRefId({ ...ada, account: 'new', ref_id: 'ref-ada' })).toEqual({})
    await client.recordActionValue({ ...ada, account: 'linus', cid: 'welcome', aid: 'connect-wallet', value: 1 })
    expect((await client.getCampaignInfo({ pid: 'demo' })).actions[2]).toMatchObject({ xp_mul: 1.5, ref_xp: 3 })
    expect(await client.getCampaignPoints({ pid: 'demo' })).toMatchObject({ season: { name: 'Summer' } })
    expect(await client.getUserProfiles(ada)).toMatchObject({ refs: 3, ref_xp: 10 })
    expect(await client.getInviteCode({ code: 'UNUSED-2026', pid: 'demo' })).toEqual({ used_by: [] })
    expect(await client.registerWebhook({ scope: 'user_activity', url: 'https://partner.example' })).toMatchObject({
      hook_id: expect.any(String),
    })
    expect(service.requests.map(({ status }) => status)).toEqual(Array(11).fill(200))
  })
})

test.each([
  ['delay', 'attempt'],
  ['drip', 'total'],
] as const)(
  'a timeout of the client says that the fault %s waits for the clock of the service',
  async (kind, scope) => {
    vi.useFakeTimers()
    const service = createCampaignService({ clock: createManualClock() })
    const totalTimeoutMs = scope === 'total' ? 10_000 : 60_000
    const limits = { timeoutMs: 10_000, totalTimeoutMs, maxRetries: 0 }
    const client = new CampaignClient({ ...limits, baseUrl: BASE_URL, accessToken: 'any', fetch: service.fetch })
    service.fail({ kind, delayMs: 50 })
    const failed = client.getUserProgress(ada).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(10_000)
    const words =
      /\(10000 ms\): a fault of the local service waits 50 ms on the service's clock, .* clock\.advance\(50\)/
    expect(await failed).toMatchObject({ code: 'timeout', scope, message: expect.stringMatching(words) })
  },
)
