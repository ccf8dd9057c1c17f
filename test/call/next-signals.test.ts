import { CampaignClient, type CampaignClientOptions, type EndEvent, TransportError } from 'campaign-client'
import { describe, expect, test, vi } from 'vitest'
import { operation } from '../contract/operations.ts'
import { rejection } from './fake-time.ts'

const { data } = operation('getCampaignPoints')
const read = (client: CampaignClient): Promise<unknown> => client.getCampaignPoints({ pid: 'demo' })
const award = (client: CampaignClient): Promise<unknown> =>
  client.rewardWallet({ address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'award-1', xp: 10 })

const SIGNALS = [
  'NEXT_REDIRECT;replace;/login;307;',
  'NEXT_HTTP_ERROR_FALLBACK;404',
  'NEXT_PRERENDER_INTERRUPTED',
  'NEXT_A_LATER_VERSION',
  'DYNAMIC_SERVER_USAGE',
  'BAILOUT_TO_CLIENT_SIDE_RENDERING',
  'HANGING_PROMISE_REJECTION',
]
const OTHERS = ['1234567890', 'DYNAMIC', 'A_NEXT_REDIRECT', 'dynamic_server_usage', '', 7, undefined]

const withDigest = (digest: unknown): Error => Object.assign(new Error('thrown by Next.js'), { digest })

const throwing = (error: unknown) => async (): Promise<never> => {
  throw error
}

/** Creates a client that records its hooks. */
function observedClient(options: Partial<CampaignClientOptions>) {
  const ends: EndEvent[] = []
  const hooks = {
    onRequest: vi.fn(),
    onResponse: vi.fn(),
    onRetry: vi.fn(),
    onEnd: (event: EndEvent) => void ends.push(event),
  }
  const baseUrl = 'https://service.example/api/v1'
  const client = new CampaignClient({ baseUrl, accessToken: 'an-access-token', ...options, hooks })
  return { client, hooks, ends }
}

describe('a signal of Next.js that fetch throws', () => {
  test.each(SIGNALS)('%s rejects the call as it is, at once, and ends the call', async (digest) => {
    const signal = withDigest(digest)
    const fetch = vi.fn(throwing(signal))
    const { client, hooks, ends } = observedClient({ fetch })
    expect(await rejection(read(client))).toBe(signal)
    expect(fetch).toHaveBeenCalledTimes(1)
    expect(hooks.onRetry).not.toHaveBeenCalled()
    expect(hooks.onResponse).not.toHaveBeenCalled()
    expect(ends).toMatchObject([{ operation: 'getCampaignPoints', attempts: 1, error: signal }])
  })

  test('leaves the outcome of a write unknown', async () => {
    const { client, ends } = observedClient({ fetch: throwing(withDigest('DYNAMIC_SERVER_USAGE')) })
    await rejection(award(client))
    expect(ends).toMatchObject([{ attempts: 1, outcome: 'unknown' }])
  })

  test('also when the platform has the fetch', async () => {
    const signal = withDigest('DYNAMIC_SERVER_USAGE')
    vi.stubGlobal('fetch', throwing(signal))
    const { client } = observedClient({})
    const thrown = await rejection(read(client)).finally(() => vi.unstubAllGlobals())
    expect(thrown).toBe(signal)
  })

  test('also when a transport of your own throws it, or wraps it in a TransportError', async () => {
    const signal = withDigest('NEXT_REDIRECT;push;/;307;')
    const wrapped = new TransportError('', { kind: 'network', sent: true, cause: signal })
    for (const thrown of [signal, wrapped]) {
      const { client } = observedClient({ transport: { send: () => Promise.reject(thrown) } })
      expect(await rejection(read(client))).toBe(signal)
    }
  })

  test('releases its slot of maxConcurrency', async () => {
    const fetch = vi
      .fn(throwing(withDigest('DYNAMIC_SERVER_USAGE')))
      .mockImplementationOnce(throwing(withDigest('NEXT_REDIRECT')))
    const { client } = observedClient({ fetch, limits: { maxConcurrency: 1 } })
    await Promise.all([rejection(read(client)), rejection(read(client)), rejection(read(client))])
    expect(fetch).toHaveBeenCalledTimes(3)
  })
})

describe('a signal of Next.js that the token source throws', () => {
  test.each(SIGNALS)('%s rejects every call that waits, as it is, and nothing is sent', async (digest) => {
    const signal = withDigest(digest)
    const fetch = vi.fn()
    const accessToken = vi.fn(throwing(signal))
    const { client, hooks, ends } = observedClient({ fetch, accessToken })
    const calls = [rejection(read(client)), rejection(award(client))]
    expect(await Promise.all(calls)).toEqual([signal, signal])
    expect(accessToken).toHaveBeenCalledTimes(1)
    expect(fetch).not.toHaveBeenCalled()
    expect(hooks.onRetry).not.toHaveBeenCalled()
    expect(ends).toMatchObject([
      { attempts: 0, error: signal },
      { attempts: 0, error: signal, outcome: 'not_applied' },
    ])
  })

  test('is not kept: the next call asks the source again', async () => {
    const accessToken = vi.fn(async () => 'an-access-token')
    accessToken.mockImplementationOnce(throwing(withDigest('NEXT_REDIRECT')))
    const fetch = async (): Promise<Response> => Response.json({ success: true, data })
    const { client } = observedClient({ fetch, accessToken })
    await rejection(read(client))
    await expect(read(client)).resolves.toEqual(data)
  })
})

describe('another digest', () => {
  const unreadable = Object.defineProperty(new Error('broken'), 'digest', {
    get() {
      throw new Error('digest')
    },
  })

  test.each([
    ...OTHERS.map((digest) => [`${digest}`, withDigest(digest)] as const),
    ['whose getter throws', unreadable] as const,
    ['of a value that is no Error', { digest: 'NEXT_REDIRECT' }] as const,
  ])('%s does not change the error of fetch or of the token source', async (_, thrown) => {
    const { client } = observedClient({ fetch: throwing(thrown), maxRetries: 0 })
    expect(await rejection(read(client))).toMatchObject({ code: 'network' })
    const { client: withoutToken } = observedClient({ accessToken: throwing(thrown), fetch: vi.fn() })
    expect(await rejection(read(withoutToken))).toMatchObject({ code: 'access_token' })
  })
})
