import { createCampaignService } from 'campaign-client/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { caller } from '../rest.ts'

describe('service.fetch', () => {
  test('accepts a string, a URL or a Request, with an init', async () => {
    const { fetch } = createCampaignService()
    const url = 'https://campaign.example/api/v1/campaign/info?pid=demo'
    const init = { headers: { authorization: 'Bearer t' } }
    for (const input of [url, new URL(url), new Request(url)]) {
      expect((await fetch(input, init)).status).toBe(200)
    }
    expect((await fetch(new Request(url, init))).status).toBe(200)
    await expect(fetch('/relative', init)).rejects.toThrow(TypeError)
  })

  test('rejects with the reason of an aborted signal and does not handle the request', async () => {
    const service = createCampaignService()
    const reason = new Error('enough')
    const award = { address: `0x${'1'.repeat(40)}`, pid: 'demo', id: 'r', xp: 1 }
    const { post } = caller(service.fetch)
    await expect(post('/wallet/reward', award, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(service.requests).toEqual([])
    expect(service.state.awards).toEqual([])
  })

  test('returns a redirect, or rejects under `redirect: error`', async () => {
    const service = createCampaignService()
    const redirect = { kind: 'status', status: 302, headers: { location: '/api/v1/campaign/info?pid=demo' } } as const
    const init = { headers: { authorization: 'Bearer t' } }
    const { raw } = caller(service.fetch)
    service.fail({ ...redirect, times: 3 })
    for (const mode of ['manual', 'follow'] as const) {
      const response = await raw('/code', { ...init, redirect: mode })
      expect([response.status, response.headers.get('location')]).toEqual([302, '/api/v1/campaign/info?pid=demo'])
    }
    await expect(raw('/code', { ...init, redirect: 'error' })).rejects.toThrow('fetch failed')
    expect(service.requests).toHaveLength(3)
    for (const status of [200, 300, 304, 404]) {
      service.fail({ ...redirect, status })
      expect((await raw('/code', { ...init, redirect: 'error' })).status, 'not a redirect').toBe(status)
    }
  })

  test('responds to any request with JSON, and never with a server error', async () => {
    const path = fc.constantFrom(
      '/user/progress',
      '/wallet/reward',
      '/user/referrer',
      '/user',
      '/user/ref_id',
      '/action/value',
      '/campaign/info',
      '/campaign/points',
      '/user/profiles',
      '/code',
      '/webhook',
      '/nothing',
    )
    const text = fc.oneof(
      fc.constantFrom('ada', 'demo', 'discord', 'welcome', 'follow', 'ref-ada', '__proto__'),
      fc.string(),
    )
    const field = fc.constantFrom(
      'account',
      'platform',
      'pid',
      'id',
      'address',
      'referrer',
      'referral',
      'cid',
      'aid',
      'value',
    )
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.dictionary(field, fc.oneof(text, fc.double())).map((fields) => JSON.stringify(fields)),
    )
    const request = fc.record({ path, query: fc.dictionary(field, text), body, get: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 8 }), async (requests) => {
        const service = createCampaignService()
        const { raw } = caller(service.fetch)
        for (const { path, query, body, get } of requests) {
          const response = await raw(`${path}?${new URLSearchParams(query)}`, {
            headers: { authorization: 'Bearer t', 'content-type': 'application/json' },
            ...(get ? {} : { method: 'POST', body }),
          })
          expect([200, 400, 403, 404, 405]).toContain(response.status)
          expect(await response.json()).toHaveProperty('success')
        }
      }),
      { numRuns: 150 },
    )
  })
})
