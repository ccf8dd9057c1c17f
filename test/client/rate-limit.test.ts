import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CampaignClient, type CampaignClientOptions, RateLimitError, TimeoutError } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { immediateRejection, rejection, settle } from '../http/fake-time.ts'
import { answer, hanging, refusal, scriptedFetch } from '../http/scripted-fetch.ts'

const opened: { close(): unknown }[] = []
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  for (const each of opened.splice(0)) each.close()
})

const done = answer(200, { success: true })
const award = { address: `0x${'a'.repeat(40)}`, pid: 'demo', id: 'r-1', xp: 10 }
const fakeTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
const clientOf = (fetch: typeof globalThis.fetch, options: Partial<CampaignClientOptions> = {}) =>
  new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'token', fetch, ...options })

describe('limits', () => {
  test('a call that never left the line is not applied', async () => {
    fakeTime()
    const { fetch, sent } = scriptedFetch(hanging)
    const client = clientOf(fetch, { limits: { maxConcurrency: 1 }, timeoutMs: 9_000, maxRetries: 0 })
    const first = settle(client.rewardWallet(award))
    const error = await rejection(client.rewardWallet(award, { totalTimeoutMs: 5_000 }))
    expect(error).toBeInstanceOf(TimeoutError)
    expect(error).toMatchObject({ scope: 'total', outcome: 'not_applied' })
    expect(sent).toHaveLength(1)
    await first
  })

  test('an abort leaves the line at once', async () => {
    fakeTime()
    const { fetch, sent } = scriptedFetch(hanging)
    const client = clientOf(fetch, { limits: { maxConcurrency: 1 }, maxRetries: 0 })
    const first = settle(client.rewardWallet(award))
    const aborter = new AbortController()
    const second = client.rewardWallet(award, { signal: aborter.signal })
    const rejected = immediateRejection(second)
    aborter.abort('enough')
    expect(await rejected).toBe('enough')
    await first
    expect(sent).toHaveLength(1)
  })

  test('a rate spreads requests evenly', async () => {
    fakeTime()
    const { fetch, sent } = scriptedFetch(done)
    const client = clientOf(fetch, { limits: { requestsPerSecond: 4 } })
    const calls = Promise.all(Array.from({ length: 9 }, () => client.rewardWallet(award)))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(sent).toHaveLength(5)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(sent).toHaveLength(9)
    await calls
  })

  test.each([
    [{ maxConcurrency: 0 }, 'limits.maxConcurrency must be a whole number, 1 or more, got 0'],
    [{ requestsPerSecond: 0 }, 'limits.requestsPerSecond must be a number of requests above 0'],
    [{ requestsPerSecond: Number.NaN }, 'limits.requestsPerSecond must be a number of requests above 0'],
    [{ concurrency: 1 }, 'limits.concurrency is not an option; there are maxConcurrency, requestsPerSecond'],
    [5, 'limits must be an object'],
  ])('%j is refused', (limits, message) => {
    expect(() => clientOf(globalThis.fetch, { limits: limits as never })).toThrow(message)
  })
})

describe('after a 429', () => {
  test('a pause above 30 s fails who waits, unsent', async () => {
    fakeTime()
    const { fetch, sent } = scriptedFetch(refusal(429, { 'retry-after': '31' }), done)
    const client = clientOf(fetch)
    expect(await rejection(client.rewardWallet(award))).toMatchObject({ retryAfterMs: 31_000 })
    const error = await rejection(client.rewardWallet(award))
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ status: 429, retryAfterMs: 31_000, outcome: 'not_applied' })
    expect(sent).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1_000)
    await settle(client.rewardWallet(award))
    expect(sent).toHaveLength(2)
  })

  test('waiting uses up no retry', async () => {
    fakeTime()
    const { fetch, sent } = scriptedFetch(refusal(429, { 'retry-after': '10' }), done)
    const client = clientOf(fetch, { maxRetries: 0 })
    await rejection(client.rewardWallet(award))
    expect(await settle(client.rewardWallet(award))).toMatchObject({ status: 'fulfilled' })
    expect(sent).toHaveLength(2)
  })
})

describe('retryDelayMs', () => {
  const fails = refusal(503)

  test('decides the waits, and is told which attempt failed, and how', async () => {
    fakeTime()
    const asked: unknown[] = []
    const retryDelayMs = (attempt: number, error: Error): number => {
      asked.push([attempt, error.name])
      return attempt * 1_000
    }
    const delays: number[] = []
    const client = clientOf(scriptedFetch(fails, fails, done).fetch, {
      retryDelayMs,
      hooks: { onRetry: ({ delayMs }) => delays.push(delayMs) },
    })
    await settle(client.rewardWallet(award))
    expect(delays).toEqual([1_000, 2_000])
    expect(asked).toEqual([
      [1, 'ServiceError'],
      [2, 'ServiceError'],
    ])
  })

  test('is not asked where the service names the wait', async () => {
    fakeTime()
    const retryDelayMs = vi.fn(() => 5)
    const delays: number[] = []
    const client = clientOf(scriptedFetch(refusal(503, { 'retry-after': '7' }), done).fetch, {
      retryDelayMs,
      hooks: { onRetry: ({ delayMs }) => delays.push(delayMs) },
    })
    await settle(client.rewardWallet(award))
    expect(delays).toEqual([7_000])
    expect(retryDelayMs).not.toHaveBeenCalled()
  })

  test('decides the pause after a 429 that names none', async () => {
    fakeTime()
    const delays: number[] = []
    const client = clientOf(scriptedFetch(refusal(429), done).fetch, {
      retryDelayMs: () => 1_234,
      hooks: { onRetry: ({ delayMs }) => delays.push(delayMs) },
    })
    await settle(client.rewardWallet(award))
    expect(delays).toEqual([1_234])
  })

  test.each([
    ['throws', () => Promise.reject(new Error('late')) as never],
    ['gives NaN', () => Number.NaN],
    ['gives less than nothing', () => -1],
    ['gives a text', () => '5' as never],
  ])('that %s counts as the default', async (_, retryDelayMs) => {
    fakeTime()
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    const delays: number[] = []
    const hooks = { onRetry: ({ delayMs }: { delayMs: number }) => delays.push(delayMs) }
    const client = clientOf(scriptedFetch(fails, done).fetch, { retryDelayMs, hooks })
    expect(await settle(client.rewardWallet(award))).toMatchObject({ status: 'fulfilled' })
    expect(delays).toEqual([150])
  })
})

/** A service that takes so many requests in each tenth of a second, over real connections. */
async function limitedService(perWindow: number, retryAfter: boolean) {
  const sendings = new Map<string, number>()
  const awarded = new Set<string>()
  let windowEnds = 0
  let left = 0
  const server: Server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { id } = JSON.parse(body) as { id: string }
      sendings.set(id, (sendings.get(id) ?? 0) + 1)
      const now = performance.now()
      if (now >= windowEnds) {
        windowEnds = now + 100
        left = perWindow
      }
      if (left-- > 0) {
        awarded.add(id)
        response.end('{"success":true}')
        return
      }
      // The finest that Retry-After can say is a second: none, where a window ends earlier.
      response.writeHead(429, retryAfter ? { 'retry-after': '1' } : {})
      response.end('{"success":true,"error":{"code":429,"message":"slow down"}}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push({
    close() {
      server.closeAllConnections()
      server.close()
    },
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`, sendings, awarded }
}

describe('a rush of awards over real connections, beyond what the service allows', () => {
  test.each([
    ['the default transport', false, true],
    ['the default transport', false, false],
    ['the Node transport', true, true],
    ['the Node transport', true, false],
  ])('%s (Node: %s, Retry-After: %s): all are awarded', async (_, onNode, retryAfter) => {
    const service = await limitedService(50, retryAfter)
    const transport = onNode ? nodeTransport() : undefined
    if (transport !== undefined) opened.push(transport)
    const client = new CampaignClient({ baseUrl: service.baseUrl, accessToken: 'token', transport })
    const ids = Array.from({ length: 200 }, (_, index) => `award-${index}`)
    await Promise.all(ids.map((id) => client.rewardWallet({ ...award, id })))
    expect(service.awarded.size).toBe(200)
    const often = [...service.sendings.values()].filter((count) => count > 2).length
    expect(often).toBeLessThan(40)
  })
})
