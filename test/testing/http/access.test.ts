import { createCampaignService, createManualClock, type TokenOptions } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller, type RestResponse, refused } from '../rest.ts'

describe('tokens', () => {
  test.each([
    ['no token', undefined],
    ['an empty token', 'Bearer '],
    ['another scheme', 'Basic YTpi'],
    ['two tokens', 'Bearer a, Bearer b'],
  ])('are required: the response to %s is 401', async (_, authorization) => {
    const { raw } = caller(createCampaignService().fetch)
    const response = await raw(
      '/campaign/info?pid=demo',
      authorization === undefined ? {} : { headers: { authorization } },
    )
    expect({ status: response.status, body: await response.json() }).toEqual(refused(401))
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('in a list are accepted, and all others refused', async () => {
    const service = createCampaignService({ tokens: ['first', 'second'] })
    const statusWith = async (token: string) =>
      (await caller(service.fetch, { token }).get('/campaign/info', { pid: 'demo' })).status
    expect(await statusWith('first')).toBe(200)
    expect(await statusWith('second')).toBe(200)
    expect(await statusWith('third')).toBe(401)
    expect(await statusWith('constructor')).toBe(401)
  })

  test('cause a 401 if they have expired, and a 403 outside their organization and campaigns', async () => {
    const service = createCampaignService({
      campaigns: [
        { id: 'north', organization: 'n' },
        { id: 'north-2', organization: 'n' },
        { id: 'south', organization: 's' },
      ],
      tokens: {
        everything: {},
        'of-n': { organization: 'n' },
        'one-of-n': { organization: 'n', campaigns: ['north'] },
        old: { expired: true },
      },
    })
    const statuses = async (token: string) => {
      const { get } = caller(service.fetch, { token })
      const answers = ['north', 'north-2', 'south', 'unknown'].map((pid) => get('/campaign/info', { pid }))
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    expect(await statuses('everything')).toEqual([200, 200, 200, 403])
    expect(await statuses('of-n')).toEqual([200, 200, 403, 403])
    expect(await statuses('one-of-n')).toEqual([200, 403, 403, 403])
    expect(await statuses('old')).toEqual([401, 401, 401, 401])
    const { get } = caller(service.fetch, { token: 'of-n' })
    expect(await get('/campaign/info', { pid: 'south' })).toMatchObject(refused(403))
  })

  test.each([
    ['', 'demo', 'no bearer token in the Authorization header'],
    ['other', 'demo', 'the local service does not accept this bearer token: see `tokens`, or `dev --token`'],
    ['old', 'demo', 'the bearer token has expired'],
    ['theirs', 'demo', 'the token has no permission for the campaign "demo"'],
    ['theirs', 'nothing', 'there is no campaign "nothing"'],
  ])('are refused with a reason in the log: token %j, campaign %s', async (token, pid, reason) => {
    const service = createCampaignService({ tokens: { old: { expired: true }, theirs: { organization: 'them' } } })
    await caller(service.fetch, { token }).get('/campaign/info', { pid })
    expect(service.requests).toMatchObject([{ reason }])
  })

  test('do not change if the options object changes', async () => {
    const campaigns = ['demo']
    const ours = { campaigns, expired: false }
    const listed = ['listed']
    const statusOf = async (tokens: TokenOptions, token: string) => {
      const service = createCampaignService({ tokens })
      listed.length = campaigns.length = 0
      ours.expired = true
      const { status } = await caller(service.fetch, { token }).get('/campaign/info', { pid: 'demo' })
      return status
    }
    expect(await statusOf({ ours }, 'ours')).toBe(200)
    expect(await statusOf(['listed'], 'listed')).toBe(200)
  })

  test.each([[['']], [['with space']], [[5]], [{ '': {} }]])('must not be %j', (tokens) => {
    expect(() => createCampaignService({ tokens: tokens as TokenOptions })).toThrow(
      /^createCampaignService: tokens must be non-empty strings/,
    )
  })

  test.each(['token', 5, null])('must be a list or a record, not %j', (tokens) => {
    expect(() => createCampaignService({ tokens: tokens as never })).toThrow(
      /^createCampaignService: tokens must be a list of tokens, or an object of permissions by token, got /,
    )
  })
})

const POINTS = ['/campaign/points', { pid: 'demo' }] as const

function limited(perSecond: number) {
  const clock = createManualClock()
  const service = createCampaignService({ clock, rateLimit: { perSecond } })
  const send = (count: number, token = 'one'): Promise<RestResponse[]> =>
    Promise.all(Array.from({ length: count }, () => caller(service.fetch, { token }).get(...POINTS)))
  const statuses = async (count: number, token?: string) => (await send(count, token)).map(({ status }) => status)
  return { clock, service, send, statuses }
}

describe('rateLimit', () => {
  test('limits the requests of each token in each second of the clock', async () => {
    const { clock, service, statuses } = limited(2)
    expect(await statuses(3)).toEqual([200, 200, 429])
    expect(await statuses(3, 'another')).toEqual([200, 200, 429])
    await clock.advance(999)
    expect(await statuses(1)).toEqual([429])
    await clock.advance(1)
    expect(await statuses(3)).toEqual([200, 200, 429])
    expect(service.requests.at(-1)).toMatchObject({ status: 429, reason: expect.stringContaining('dev --rate-limit') })
    service.reset()
    expect(await statuses(2)).toEqual([200, 200])
  })

  test.each([
    [5, '1'],
    [2.5, '2'],
    [0.1, '10'],
  ])('of %d responds with Retry-After: %s', async (perSecond, seconds) => {
    const { clock, send, statuses } = limited(perSecond)
    const responses = await send(Math.ceil(perSecond) + 1)
    expect(responses.map(({ status }) => status)).toEqual([...Array(Math.ceil(perSecond)).fill(200), 429])
    expect(responses.at(-1)?.headers.get('retry-after')).toBe(seconds)
    await clock.advance(Number(seconds) * 1_000)
    expect(await statuses(1)).toEqual([200])
  })

  test('counts neither refused tokens nor other paths, and uses no fault for a request beyond it', async () => {
    const service = createCampaignService({ tokens: ['good'], rateLimit: { perSecond: 1 } })
    const { get } = caller(service.fetch, { token: 'good' })
    expect((await caller(service.fetch, { token: 'bad' }).get(...POINTS)).status).toBe(401)
    expect((await get('/nothing')).status).toBe(404)
    expect((await get(...POINTS)).status).toBe(200)
    service.fail({ kind: 'garbage' })
    expect((await get(...POINTS)).status).toBe(429)
    expect(service.pendingFaults()).toHaveLength(1)
  })

  test('starts anew if the clock is set back', async () => {
    const { clock, statuses } = limited(1)
    await clock.advance(60_000)
    expect(await statuses(2)).toEqual([200, 429])
    clock.reset()
    expect(await statuses(2)).toEqual([200, 429])
  })
})
