import {
  CampaignClient,
  ConfigurationError,
  InvalidRequestError,
  UnauthorizedError,
  UnexpectedResponseError,
} from 'campaign-client'
import { operations } from '../../contract/operations.ts'
import { equal, instance, matches, rejection, same, thrown } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { ADA, createLocalClient, WALLET } from './local-client.ts'
import { TOKEN } from './secrets.ts'

const AWARD = { address: WALLET, pid: 'demo', id: 'award-1', xp: 250 }

/** Calls, and their results for each response of the service. */
export const calls: readonly Behaviour[] = [
  ...operations.map(
    ({ name, method, path, sent, writes, response: documented, result, run }): Behaviour => ({
      name: `${name}: sends the request and reads the documented response`,
      async run() {
        const seen: unknown[] = []
        const client = new CampaignClient({
          baseUrl: 'https://campaign.example/api/v1',
          accessToken: TOKEN,
          webhookRegistrationPath: 'webhook',
          fetch: async (url, init) => {
            seen.push([init?.method, url, await new Response(init?.body).text()])
            return new Response(JSON.stringify(documented))
          },
        })
        same(await run(client), result)
        const address = `https://campaign.example/api/v1${path === 'not shown' ? '/webhook' : path}`
        matches(seen, [writes ? [method, address, sent] : [method, address + sent, '']])
      },
    }),
  ),
  {
    name: 'reads every resource',
    async run() {
      const { client } = createLocalClient()
      matches(await client.getUserProgress(ADA), {
        name: 'Ada',
        total: 1215,
        rank: 1,
        team: 'analysts',
        rewards: [{ id: 'reward-ada-1', reward: '1000', type: 'xp' }],
      })
      const info = await client.getCampaignInfo({ pid: 'demo' })
      // The service sends `ref_xp` and `xp_mul` as strings.
      matches(info.actions[2], { id: 'share', ref_xp: 3, xp_mul: 1.5, deps: ['follow'] })
      matches(await client.getCampaignPoints({ pid: 'demo' }), { id: 'demo', season: { max_xp: 5000 } })
      matches(await client.getUserProfiles(ADA), { ref_count: 1, ref_xp: 5, ugc_xp: 40 })
      matches(await client.getInviteCode({ code: 'WELCOME-2026', pid: 'demo' }), { used_by: ['ada', 'grace'] })
    },
  },
  {
    name: 'writes data and reads it back',
    async run() {
      const { client, service } = createLocalClient()
      equal(await client.rewardWallet(AWARD), undefined)
      await client.updateUser({ account: 'linus', platform: 'discord', pid: 'demo', name: 'Линус 🐧', team: 'kernel' })
      await client.setReferrer({ referrer: 'ada', referral: 'hedy', platform: 'discord', pid: 'demo' })
      await client.setReferrerByRefId({ account: 'katherine', platform: 'discord', pid: 'demo', ref_id: 'ref-ada' })
      await client.recordActionValue({ ...ADA, cid: 'welcome', aid: 'feedback', value: 5 })
      matches(await client.getUserProgress({ ...ADA, account: 'linus' }), { name: 'Линус 🐧', team: 'kernel' })
      matches(await client.getUserProfiles(ADA), { ref_count: 3 })
      equal(service.requests.length, 7)
      matches(service.requests[0], { body: AWARD, headers: { 'content-type': 'application/json' }, authorized: true })
    },
  },
  {
    name: 'throws an error with the expiry time of an expired token',
    async run() {
      const part = (value: object) => btoa(JSON.stringify(value)).replace(/=+$/, '')
      const expired = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ exp: 1_700_000_000 })}.c2lnbmF0dXJl`
      const { client } = createLocalClient({ accessToken: expired })
      const error = instance(await rejection(client.getUserProgress(ADA)), UnauthorizedError)
      equal(error.message.includes('expired at 2023-11-14T22:13:20'), true, error.message)
    },
  },
  {
    name: 'retries after 503, obeys Retry-After and calls the hooks',
    async run() {
      const seen: string[] = []
      const { client, service } = createLocalClient({
        hooks: {
          onRequest: ({ attempt }) => seen.push(`request ${attempt}`),
          onResponse: ({ status }) => seen.push(`response ${status}`),
          onRetry: ({ attempt, delayMs, error }) => seen.push(`retry after ${attempt}: ${delayMs} ${error.code}`),
        },
      })
      service.fail({ kind: 'status', status: 503, headers: { 'retry-after': '1' } })
      matches(await client.getUserProgress(ADA), { total: 1215 })
      const expected = ['request 1', 'response 503', 'retry after 1: 1000 service_error', 'request 2', 'response 200']
      matches(seen, expected)
    },
  },
  {
    name: 'throws UnexpectedResponseError for an undocumented answer',
    async run() {
      const { client, service } = createLocalClient()
      service.fail({ kind: 'garbage' })
      matches(instance(await rejection(client.getUserProgress(ADA)), UnexpectedResponseError), { status: 200 })
      service.fail({ kind: 'misshapen' })
      const misshapen = instance(await rejection(client.getUserProgress(ADA)), UnexpectedResponseError)
      matches(misshapen.issues, [{ path: ['data'] }])
      equal(JSON.stringify(misshapen).includes('data of the wrong type'), false, 'the value is shown')
      service.fail({ kind: 'status', status: 302, headers: { location: 'https://elsewhere.example/' } })
      matches(instance(await rejection(client.getUserProgress(ADA)), UnexpectedResponseError), { status: 302 })
      equal(service.requests.length, 3, 'requests')
    },
  },
  {
    name: 'refuses invalid arguments and options before anything is sent',
    async run() {
      const { client, service } = createLocalClient()
      const invalid = { address: '0x12', pid: '', id: 'a', xp: Number.NaN }
      const error = instance(await rejection(client.rewardWallet(invalid)), InvalidRequestError)
      matches(error.issues, [{ path: ['address'] }, { path: ['pid'] }, { path: ['xp'] }])
      equal(service.requests.length, 0, 'requests')
      for (const baseUrl of ['no url', 'http://campaign.example/api/v1', 'https://user:pass@campaign.example/']) {
        instance(
          thrown(() => new CampaignClient({ baseUrl, accessToken: TOKEN })),
          ConfigurationError,
        )
      }
    },
  },
]
