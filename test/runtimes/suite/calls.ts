import {
  AccessDeniedError,
  ApiError,
  BadRequestError,
  CampaignClient,
  CampaignError,
  ConfigurationError,
  InvalidRequestError,
  RateLimitError,
  ReferralRejectedError,
  ServiceError,
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
  ...operations.map(
    ({ name, run }): Behaviour => ({
      name: `${name}: the local service accepts the request of the contract`,
      async run() {
        const { client, service } = createLocalClient({ webhookRegistrationPath: 'webhook' })
        await run(client)
        matches(service.requests, [{ operation: name, status: 200 }])
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
  ...(
    [
      [400, BadRequestError, 'bad_request'],
      [401, UnauthorizedError, 'unauthorized'],
      [403, AccessDeniedError, 'access_denied'],
      [429, RateLimitError, 'rate_limited'],
      [500, ServiceError, 'service_error'],
    ] as const
  ).map(
    ([status, type, code]): Behaviour => ({
      name: `throws ${type.brand} for ${status}`,
      async run() {
        const { client, service } = createLocalClient({ maxRetries: 0 })
        service.fail({ kind: 'status', status, times: 2 })
        const read = instance<ApiError>(await rejection(client.getUserProgress(ADA)), type)
        matches(read, { name: type.brand, code, status, serviceCode: status, operation: 'getUserProgress' })
        const write = instance<ApiError>(await rejection(client.rewardWallet(AWARD)), type)
        matches(write, { operation: 'rewardWallet', outcome: status === 500 ? 'unknown' : 'not_applied' })
        for (const error of [read, write]) {
          instance(error, ApiError)
          instance(error, CampaignError)
          instance(error, Error)
          equal(Object.prototype.toString.call(error), '[object Error]')
        }
      },
    }),
  ),
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
    name: 'retries no write that would count twice',
    async run() {
      const { client, service } = createLocalClient()
      service.fail({ on: 'recordActionValue', kind: 'status', status: 503, headers: { 'retry-after': '0' }, times: 3 })
      const call = client.recordActionValue({ ...ADA, cid: 'welcome', aid: 'feedback', value: 5 })
      matches(instance(await rejection(call), ServiceError), { status: 503, outcome: 'unknown' })
      equal(service.requests.length, 1, 'requests')
    },
  },
  {
    name: 'reports an unknown outcome of a write after a lost response',
    async run() {
      const { client, service } = createLocalClient()
      service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
      const error = await rejection(client.rewardWallet(AWARD))
      matches(instance(error, BadRequestError), { outcome: 'unknown' })
      equal(service.requests.length, 2, 'requests')
    },
  },
  {
    name: 'throws ReferralRejectedError with its reason',
    async run() {
      const { client, service } = createLocalClient()
      const selfReferral = { referrer: 'ada', referral: 'ada', platform: 'discord', pid: 'demo' }
      const own = instance(await rejection(client.setReferrer(selfReferral)), ReferralRejectedError)
      matches(own, { reason: 'self_referral_not_allowed', code: 'referral_rejected', outcome: 'not_applied' })
      service.fail({ kind: 'status', status: 200, body: { success: false, error: 'missing_user' } })
      const missing = await rejection(client.setReferrer({ ...selfReferral, referral: 'hedy' }))
      matches(instance(missing, ReferralRejectedError), { reason: 'missing_user', status: 200 })
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
    name: "returns data of another shape with responseValidation: 'report'",
    async run() {
      const reported: unknown[] = []
      const { client, service } = createLocalClient({
        responseValidation: 'report',
        hooks: { onInvalidResponse: ({ issues }) => reported.push(issues) },
      })
      service.fail({ kind: 'misshapen' })
      equal(await client.getUserProgress(ADA), 'data of the wrong type' as unknown)
      matches(reported, [[{ path: ['data'] }]])
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
