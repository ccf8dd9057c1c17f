import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { caller, type RestResponse } from '../rest.ts'

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
