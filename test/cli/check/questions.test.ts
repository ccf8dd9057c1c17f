import { CampaignClient, type CampaignError } from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CheckArguments } from '../../../src/cli/check/question.ts'
import { ADDRESS, checked, type Deviation, localService, TOKEN, WALLET } from './deviation.ts'

const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

const pathOf = ({ url }: Request): string => new URL(url).pathname.replace('/api/v1/', '')

/** Changes the data in the answers of one path. */
const changed =
  (path: string, change: (data: Record<string, unknown>) => unknown): Deviation =>
  async (request, pass) => {
    const response = await pass()
    if (pathOf(request) !== path || response.status !== 200) return response
    const body = (await response.json()) as { data: Record<string, unknown> }
    return json({ ...body, data: change(body.data) })
  }

/** Accepts other query names on a path, and refuses the assumed names. */
const renamed =
  (path: string, names: Readonly<Record<string, string>>): Deviation =>
  (request, pass) => {
    if (pathOf(request) !== path) return pass()
    const url = new URL(request.url)
    for (const [assumed, name] of Object.entries(names)) {
      const value = url.searchParams.get(name)
      url.searchParams.delete(assumed)
      url.searchParams.delete(name)
      if (value !== null) url.searchParams.set(assumed, value)
    }
    return pass(new Request(url, request))
  }

const WRITES: Partial<CheckArguments> = { allowWrites: true, address: WALLET }

test('finds no difference in the local service', async () => {
  const { exitCode, answered, profile, requests } = await checked({ args: WRITES })
  const others = answered.filter(({ finding }) => finding.result !== 'as assumed')
  expect(others.map(({ question }) => question.id)).toEqual(['timing.clock'])
  expect(exitCode).toBe(0)
  expect(answered[0]?.question.id).toBe('access.token-checked')
  expect(requests.at(-1)?.headers.authorization).not.toBe(`Bearer ${TOKEN}`)
  expect(requests.slice(0, -1).every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true)
  expect(profile).toMatchObject({
    version: 1,
    target: {
      address: 'http://127.0.0.1:4600/api/v1',
      issuer: 'issuer.example',
      subjectSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
    pid: 'demo',
    client: {},
    award: { walletPlatform: 'ethereum', listsRewards: 'ids_and_amounts' },
  })
})

test('skips questions whose flags are missing, and names these flags', async () => {
  const { answered, requests, exitCode } = await checked({
    args: { account: undefined, platform: undefined, code: undefined } as never,
  })
  const skipped = answered.filter(({ finding }) => finding.result === 'not asked')
  expect(skipped.map(({ question }) => question.id)).toContain('shapes.getUserProgress')
  expect(skipped.find(({ question }) => question.id === 'names.getInviteCode')?.finding.note).toBe(
    'needs --code, --account',
  )
  expect(requests.every(({ method }) => method === 'GET')).toBe(true)
  expect(exitCode).toBe(0)
})

describe('query names', () => {
  const cases: [string, string, Record<string, string>, object][] = [
    ['getCampaignInfo', 'campaign/info', { pid: 'id' }, { pid: 'id' }],
    ['getCampaignInfo', 'campaign/info', { pid: 'cid' }, { pid: 'cid' }],
    ['getCampaignPoints', 'campaign/points', { pid: 'campaign' }, { pid: 'campaign' }],
    ['getUserProfiles', 'user/profiles', { account: 'user' }, { account: 'user' }],
    ['getUserProfiles', 'user/profiles', { pid: 'campaign_id' }, { pid: 'campaign_id' }],
    ['getInviteCode', 'code', { code: 'invite' }, { code: 'invite' }],
  ]
  test.each(cases)('%s: finds that %s needs the names %o, and uses them', async (operation, path, names, learned) => {
    const service = localService()
    const { exitCode, profile, result } = await checked({ service, deviation: renamed(path, names) })
    expect(result(`names.${operation}`)).toBe('differs')
    expect(result(`shapes.${operation}`)).toBe('as assumed')
    expect(profile.client.queryNames).toEqual({ [operation]: learned })
    expect(exitCode).toBe(1)
  })

  test('a profile configures a client and a local service', async () => {
    const { profile } = await checked({ deviation: renamed('campaign/info', { pid: 'id' }) })
    const service = createCampaignService({ ...profile.client })
    const client = new CampaignClient({
      ...profile.client,
      baseUrl: 'https://service.example/api/v1',
      accessToken: 'a-token',
      fetch: service.fetch,
    })
    expect((await client.getCampaignInfo({ pid: 'demo' })).id).toBe('demo')
    expect(service.requests[0]?.query).toEqual({ id: ['demo'] })
  })

  test('proves no names if the service ignores all parameters', async () => {
    const anything: Deviation = (request, pass) => {
      if (!/^campaign\//.test(pathOf(request))) return pass()
      const url = new URL(request.url)
      url.search = '?pid=demo'
      return pass(new Request(url, request))
    }
    const { profile, result } = await checked({ deviation: anything })
    expect(result('names.getCampaignInfo')).toBe("can't tell")
    expect(result('names.getCampaignPoints')).toBe("can't tell")
    expect(profile.client).toEqual({})
  })

  test.each([
    ['code', { used_by: [] }],
    ['user/profiles', { user_id: 'x', xp: 0, ref_xp: 0, ugc_xp: 0, refs: 0, ref_count: 0, profiles: [] }],
  ])('an empty answer of %s proves no names', async (path, data) => {
    const { profile, result } = await checked({
      deviation: (request, pass) => (pathOf(request) === path ? json({ success: true, data }) : pass()),
    })
    expect(result(path === 'code' ? 'names.getInviteCode' : 'names.getUserProfiles')).toBe("can't tell")
    expect(profile.client).toEqual({})
  })

  test('proves no names if the service fails for nonexistent values', async () => {
    const { result } = await checked({
      deviation: (request, pass) => (/none-/.test(request.url) ? json({}, 500) : pass()),
    })
    expect(result('names.getCampaignInfo')).toBe("can't tell")
    expect(result('errors.unknown-campaign')).toBe("can't tell")
  })
})

describe('shapes', () => {
  test('reports unknown fields with their types, without values', async () => {
    const { answered, result, exitCode } = await checked({
      deviation: changed('user/progress', (data) => ({
        ...data,
        streak: 3,
        actions: [{ ...(data.actions as object[])[0], hint: 'secret hint' }],
      })),
    })
    expect(result('shapes.getUserProgress')).toBe('as assumed')
    const { finding } = answered.find(({ question }) => question.id === 'shapes.getUserProgress.unlisted') ?? {}
    expect(finding).toMatchObject({
      result: 'differs',
      detail: { paths: ['streak: number', 'actions[].hint: string'], count: 2 },
    })
    expect(exitCode).toBe(1)
  })

  test('does not show keys that may be personal data', async () => {
    const map = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`user_${index}`, 1]))
    const { answered, output } = await checked({
      deviation: changed('campaign/points', (data) => ({
        ...data,
        ada: 1,
        bob: 2,
        'carol@mail.example': 3,
        season: { ...(data.season as object), ...map },
      })),
    })
    const { finding } = answered.find(({ question }) => question.id === 'shapes.getCampaignPoints.unlisted') ?? {}
    expect(finding?.detail).toEqual({ paths: ['*: number', 'season.*: number'], count: 14 })
    expect(finding?.note).toBe('*: number, season.*: number (14 in total)')
    expect(output).not.toContain('bob')
    expect(output).not.toContain('carol@mail')
    expect(output).not.toContain('user_3')
  })

  test('lists the path of a field with another type', async () => {
    const { answered } = await checked({
      deviation: changed('user/progress', (data) => ({ ...data, rank: 'first', rewards: [{ id: 1 }] })),
    })
    const { finding } = answered.find(({ question }) => question.id === 'shapes.getUserProgress') ?? {}
    expect(finding?.result).toBe('differs')
    expect(finding?.detail?.paths).toEqual(expect.arrayContaining(['rank', 'rewards[].id', 'rewards[].reward']))
  })

  test('counts unknown statuses', async () => {
    const { answered } = await checked({
      deviation: changed('user/progress', (data) => ({
        ...data,
        quests: (data.quests as object[]).map((quest) => ({ ...quest, status: 'claimed by ada' })),
      })),
    })
    const { finding } = answered.find(({ question }) => question.id === 'shapes.statuses') ?? {}
    expect(finding).toMatchObject({
      result: 'differs',
      detail: { paths: ['quests[].status'], count: expect.any(Number) },
    })
    expect(JSON.stringify(finding)).not.toContain('claimed')
  })

  test.each<[string, Response, string]>([
    ['another envelope', json({ ok: true, result: {} }), 'no envelope'],
    ['JSON without an envelope', new Response('[]'), 'no envelope'],
  ])('%s instead of data is a difference', async (_, response, form) => {
    const { answered } = await checked({
      deviation: (request, pass) => (pathOf(request) === 'campaign/points' ? response.clone() : pass()),
    })
    const { finding } = answered.find(({ question }) => question.id === 'shapes.getCampaignPoints') ?? {}
    expect(finding).toMatchObject({ result: 'differs', detail: { form } })
  })

  const html = { 'content-type': 'text/html; charset=utf-8' }
  test.each([
    [
      'a sign-in page',
      () => new Response('<html><title>\n Sign in\n to Acme</title>', { headers: html }),
      'HTTP 200, text/html, page "Sign in to Acme"',
    ],
    ['an empty body', () => new Response(null, { status: 204 }), 'HTTP 204'],
    ['a redirect to a page', () => new Response('<p>', { status: 302, headers: html }), 'HTTP 302, text/html'],
  ])('%s instead of data answers nothing, and the finding says what came', async (_, response, note) => {
    const { answered, exitCode } = await checked({
      deviation: (request, pass) => (pathOf(request) === 'campaign/points' ? response() : pass()),
    })
    const { finding } = answered.find(({ question }) => question.id === 'shapes.getCampaignPoints') ?? {}
    expect(finding).toMatchObject({ result: "can't tell", note })
    expect(exitCode).toBe(0)
  })

  test.each([
    ['as it is', (token: string) => token],
    ['encoded for a URL', encodeURIComponent],
    ['encoded for JSON', (token: string) => JSON.stringify(token).replaceAll('/', '\\/').replaceAll('+', '\\u002b')],
  ])('a page that shows the token, %s, is described without it', async (_, encoded) => {
    const token = 'opaque+token/of=the+check'
    const { answered, output } = await checked({
      token,
      service: createCampaignService(),
      deviation: (request, pass) => {
        if (pathOf(request) !== 'campaign/points') return pass()
        const headers = { 'content-type': `text/html+${encoded(token)}` }
        return new Response(`<html><title lang="en">token ${encoded(token)}</title>`, { headers })
      },
    })
    const { finding } = answered.find(({ question }) => question.id === 'shapes.getCampaignPoints') ?? {}
    expect(finding?.note).toMatch(/^HTTP 200, text\/html\+.*\[redacted\].*, page "token .*\[redacted\].*"$/)
    expect(output).not.toContain('opaque')
  })

  test('a page with thousands of incomplete titles is described at once', async () => {
    const { answered } = await checked({
      deviation: (request, pass) =>
        pathOf(request) === 'campaign/points' ? new Response('<title'.repeat(300_000), { headers: html }) : pass(),
    })
    const { finding } = answered.find(({ question }) => question.id === 'shapes.getCampaignPoints') ?? {}
    expect(finding).toMatchObject({ note: 'HTTP 200, text/html' })
  })
})

test('counts the mistakes in the definition of a campaign', async () => {
  const { answered } = await checked({
    deviation: changed('campaign/info', (data) => {
      const [task] = data.actions as object[]
      const [quest] = data.quests as object[]
      const tasks = [
        { ...task, id: 'a', deps: ['b'] },
        { ...task, id: 'b', deps: ['a'] },
        { ...task, id: 'after', deps: ['b'] },
        { ...task, id: 'c', deps: ['nowhere'] },
        { ...task, id: 'd', deps: ['c'] },
        { ...task, id: 'd', deps: [] },
        { ...task, id: 'after', deps: ['d', 'a'] },
      ]
      return { ...data, actions: tasks, quests: [{ ...quest, id: 'e', actions: [], deps: [] }] }
    }),
  })
  const found = answered
    .filter(({ question }) => question.id.startsWith('campaign.'))
    .map(({ question, finding }) => [question.id, finding.detail?.count])
  expect(found).toEqual([
    ['campaign.missing-ids', 1],
    ['campaign.circles', 4],
    ['campaign.empty-quests', 1],
  ])
})

test('finds no cycle in a chain of 20 000 tasks', async () => {
  const { result } = await checked({
    deviation: changed('campaign/info', (data) => {
      const [task] = data.actions as object[]
      const chain = Array.from({ length: 20_000 }, (_, index) => {
        const deps = index === 0 ? [] : [`task-${index - 1}`, `task-${index - 1}`]
        return { ...task, id: `task-${index}`, deps }
      })
      return { ...data, actions: chain.reverse(), quests: [] }
    }),
  })
  expect(result('campaign.circles')).toBe('as assumed')
})

describe('errors', () => {
  test.each<[string, () => Response, object]>([
    ['an HTML page', () => new Response('<html>', { status: 400 }), { status: 400, form: 'not JSON' }],
    [
      'another status',
      () => json({ success: false, error: { code: 422, message: 'no' } }, 422),
      { status: 422, form: 'standard', code: 422 },
    ],
    [
      'a string',
      () => json({ success: false, error: 'account of ada is missing' }, 400),
      { status: 400, form: 'string' },
    ],
  ])('%s instead of the standard error is a difference', async (_, answer, detail) => {
    const { answered, output } = await checked({
      deviation: async (_request, pass) => {
        const response = await pass()
        return response.status === 400 ? answer() : response
      },
    })
    const { finding } = answered.find(({ question }) => question.id === 'errors.missing-argument') ?? {}
    expect(finding).toMatchObject({ result: 'differs', detail })
    expect(finding?.detail).toEqual(detail)
    expect(output).not.toContain('account of ada')
  })

  test('data for a user without an entry is a difference', async () => {
    const known = await checked()
    expect(known.result('errors.unknown-account')).toBe('as assumed')
    const { answered } = await checked({
      deviation: (request, pass) => {
        const isUnknown = new URL(request.url).searchParams.get('account')?.startsWith('none-')
        return isUnknown && pathOf(request) === 'user/progress' ? json({ success: true, data: {} }) : pass()
      },
    })
    const { finding } = answered.find(({ question }) => question.id === 'errors.unknown-account') ?? {}
    expect(finding).toMatchObject({ result: 'differs', note: 'HTTP 200, data' })
  })

  test('reports the names of headers for request ids and rate limits, without values', async () => {
    const { answered, output } = await checked({
      async deviation(_, pass) {
        const response = await pass()
        return new Response(response.body, {
          status: response.status,
          headers: { 'x-request-id': 'r-42', 'ratelimit-limit': '100' },
        })
      },
    })
    const { finding } = answered.find(({ question }) => question.id === 'errors.headers') ?? {}
    expect(finding?.detail?.paths).toEqual(['x-request-id', 'ratelimit-limit'])
    expect(output).not.toContain('r-42')
  })
})

test('shows clock skew, which is not a difference', async () => {
  const { answered, exitCode } = await checked({
    async deviation(_, pass) {
      const response = await pass()
      return new Response(response.body, {
        status: response.status,
        headers: { date: new Date(Date.now() - 90_000).toUTCString() },
      })
    },
  })
  expect(answered.find(({ question }) => question.id === 'timing.clock')?.finding.note).toMatch(
    /^the service is (?:89|90|91) s behind$/,
  )
  expect(exitCode).toBe(0)
})

describe('the token', () => {
  test('a service that ignores tokens is a difference', async () => {
    const { result, exitCode } = await checked({
      service: createCampaignService(),
      async deviation(_, pass) {
        const response = await pass()
        return new Response(response.body, { status: response.status })
      },
    })
    expect(result('access.token-checked')).toBe('differs')
    expect(exitCode).toBe(1)
  })

  test('for the local service, which takes any token, says so', async () => {
    const { answered, exitCode } = await checked({ service: createCampaignService() })
    expect(answered[0]?.finding).toMatchObject({ result: "can't tell", note: expect.stringMatching(/local service/) })
    expect(exitCode).toBe(0)
  })

  test('a 403 for a wrong token proves nothing', async () => {
    const { result } = await checked({
      deviation: (request, pass) =>
        request.headers.get('authorization') === `Bearer ${TOKEN}` ? pass() : json({}, 403),
    })
    expect(result('access.token-checked')).toBe("can't tell")
  })

  test('a refused token ends the run after one request, with exit code 3', async () => {
    const { exitCode, requests, result } = await checked({ service: createCampaignService({ tokens: ['another'] }) })
    expect(exitCode).toBe(3)
    expect(requests).toHaveLength(1)
    expect(result('shapes.getCampaignInfo')).toBe("can't tell")
  })

  test('replaces an opaque token with a random token', async () => {
    const { requests, result } = await checked({
      service: createCampaignService({ tokens: ['opaque'] }),
      token: 'opaque',
    })
    expect(requests.at(-1)?.headers.authorization).toMatch(/^Bearer [0-9a-f]{48}$/)
    expect(result('access.token-checked')).toBe('as assumed')
    expect(result('access.token-expiry')).toBe("can't tell")
  })
})

describe('a service that does not respond', () => {
  test.each<[string, () => Response]>([
    ['an HTML page of a proxy', () => new Response('<html>Bad gateway', { status: 502 })],
    ['redirects', () => new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } })],
  ])('%s: the check finds no answers; exit code 4', async (_, answer) => {
    const { exitCode, answered, profile } = await checked({ deviation: answer, args: {} })
    const results = answered
      .filter(({ question }) => !/^(?:access.path|access.token-expiry)$/.test(question.id))
      .map(({ finding }) => finding.result)
    expect(new Set(results)).toEqual(new Set(["can't tell", 'not asked']))
    expect(exitCode).toBe(4)
    expect(profile.client).toEqual({})
  })

  test('the first 429 ends the run', async () => {
    let count = 0
    const { requests, answered } = await checked({ deviation: (_, pass) => (++count > 4 ? json({}, 429) : pass()) })
    expect(requests).toHaveLength(5)
    expect(answered.find(({ question }) => question.id === 'timing.reads')?.finding.result).toBe("can't tell")
    expect(answered[0]?.finding.note).toBe('the service limited the rate (HTTP 429)')
  })

  test('a 500 is never a difference', async () => {
    let count = 0
    const { answered } = await checked({ deviation: (_, pass) => (++count % 2 === 0 ? json({}, 500) : pass()) })
    expect(answered.filter(({ finding }) => finding.result === 'differs')).toEqual([])
  })
})

describe('awards', () => {
  test('later runs send the same award, which the service refuses', async () => {
    const service = localService()
    await checked({ service, args: WRITES })
    const { result, exitCode, requests } = await checked({ service, args: WRITES })
    const awards = requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body ?? ''))
    expect(new Set(awards.map(({ id }) => id)).size).toBe(1)
    expect(service.exportSeed().awards).toHaveLength(1)
    expect([result('writes.used-id'), result('writes.lists-rewards'), exitCode]).toEqual([
      'as assumed',
      'as assumed',
      0,
    ])
  })

  /**
   * Changes the award in the wallet's progress on `platform`. Other platforms return 400. The first `afterReads` reads do not
   * contain the award.
   */
  const listed = (
    platform: string,
    change: (reward: Record<string, unknown>) => object | undefined,
    afterReads = 0,
  ): Deviation => {
    let reads = 0
    return async (request, pass) => {
      const url = new URL(request.url)
      if (pathOf(request) !== 'user/progress' || url.searchParams.get('account') !== WALLET) return pass()
      if (url.searchParams.get('platform') !== platform)
        return json({ success: true, error: { code: 400, message: 'bad request' } }, 400)
      url.searchParams.set('platform', 'ethereum')
      const response = await pass(new Request(url, request))
      if (response.status !== 200) return response
      const body = (await response.json()) as { data: { rewards: Record<string, unknown>[] } }
      const isLate = reads++ < afterReads
      const rewards = isLate ? [] : body.data.rewards.flatMap((reward) => change(reward) ?? [])
      return json({ ...body, data: { ...body.data, rewards, ...(isLate && { xp: 0 }) } })
    }
  }

  test.each<[string, Deviation, object, string]>([
    [
      'is listed under another platform',
      listed('evm', (reward) => reward),
      { walletPlatform: 'evm', listsRewards: 'ids_and_amounts' },
      'differs',
    ],
    [
      'is listed late',
      listed('ethereum', (reward) => reward, 2),
      { walletPlatform: 'ethereum', listsRewards: 'ids_and_amounts' },
      'as assumed',
    ],
    [
      'is listed without its amount',
      listed('ethereum', ({ id }) => ({ id, reward: 'badge', type: 'nft' })),
      { walletPlatform: 'ethereum', listsRewards: 'ids' },
      'as assumed',
    ],
    ['only changes the XP', listed('wallet', () => undefined), { walletPlatform: 'wallet' }, 'differs'],
    ['is never listed', listed('nowhere', () => undefined), {}, "can't tell"],
  ])('records the platform and format of an award that %s', async (_, deviation, award, platformResult) => {
    const { profile, result } = await checked({ deviation, args: WRITES })
    expect(profile.award).toEqual(award)
    expect(result('writes.wallet-platform')).toBe(platformResult)
  })

  test('a service that accepts the same id twice is a difference', async () => {
    const { result, exitCode } = await checked({
      deviation: (request, pass) => (request.method === 'POST' ? json({ success: true }) : pass()),
      args: WRITES,
    })
    expect([result('writes.used-id'), exitCode]).toEqual(['differs', 1])
  })

  test('the outcome of an award is that of the client: if it is unknown, it is not sent again; exit code 5', async () => {
    const code = fc.oneof(
      fc.constantFrom(0, 200, 400, 401, 408, 429, 500, 503),
      fc.constantFrom('400', '500', null, 1.5),
    )
    const error = fc.oneof(
      fc.record({ code, message: fc.constantFrom('no', 7) }, { requiredKeys: [] }),
      fc.constantFrom(
        'missing_user',
        'some text',
        '',
        null,
        0,
        false,
        true,
        [],
        [{ message: 'no' }],
        [{ code: '503' }],
      ),
    )
    const success = fc.constantFrom<unknown>(true, false, 'true', 1, null)
    const envelope = fc.record({ success, error, data: fc.constant({}) }, { requiredKeys: [] })
    const body = fc.oneof(
      envelope.map((value) => JSON.stringify(value)),
      fc.constantFrom('<html>', '[]', '', '\ufeff{}'),
    )
    const status = fc.constantFrom(200, 200, 200, 201, 302, 400, 404, 408, 422, 500, 503)
    await fc.assert(
      fc.asyncProperty(status, body, fc.boolean(), async (status, body, isLost) => {
        const answer = () => {
          if (isLost) throw new Error('reset')
          return new Response(body, { status })
        }
        const { exitCode, requests } = await checked({
          deviation: (request, pass) => (request.method === 'POST' ? answer() : pass()),
          args: WRITES,
        })
        const options = { baseUrl: ADDRESS, accessToken: TOKEN, maxRetries: 0, fetch: async () => answer() }
        const award = { address: WALLET, pid: 'demo', id: 'a', xp: 1 }
        const failure = await new CampaignClient(options).rewardWallet(award).catch((reason: CampaignError) => reason)
        const isUnknown = failure?.outcome === 'unknown'
        expect({ isUnknown: exitCode === 5 }).toEqual({ isUnknown })
        if (isUnknown) expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
      }),
      { numRuns: 100 },
    )
  })
})

describe('against an earlier profile', () => {
  test('reports changes of the service and answers that became unknown', async () => {
    const { profile } = await checked()
    const renamedNow = await checked({ earlier: profile, deviation: renamed('campaign/info', { pid: 'id' }) })
    expect(renamedNow.changes).toEqual(['names.getCampaignInfo', 'client.queryNames'])
    const silent = await checked({
      earlier: profile,
      deviation: (request, pass) => (pathOf(request) === 'code' ? json({}, 500) : pass()),
    })
    expect(silent.changes).toEqual(['shapes.getInviteCode', 'shapes.getInviteCode.unlisted', 'names.getInviteCode'])
    expect(silent.exitCode).toBe(1)
  })

  test('reports that the proven name has changed', async () => {
    const { profile } = await checked({ deviation: renamed('campaign/info', { pid: 'id' }) })
    const { changes } = await checked({ earlier: profile, deviation: renamed('campaign/info', { pid: 'cid' }) })
    expect(changes).toEqual(['client.queryNames'])
  })

  test('keeps the results of the first award', async () => {
    const service = localService()
    const { profile } = await checked({ service, args: WRITES })
    const hidden: Deviation = changed('user/progress', (data) => ({ ...data, rewards: [] }))
    const later = await checked({ service, earlier: profile, args: WRITES, deviation: hidden })
    expect(later.profile.award).toEqual(profile.award)
    expect(later.changes).toEqual([])
  })

  test('fewer flags are not a change', async () => {
    const { profile } = await checked({ args: WRITES })
    const { changes } = await checked({ earlier: profile, args: { code: undefined } as never })
    expect(changes).toEqual([])
  })
})
