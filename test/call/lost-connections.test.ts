import dns from 'node:dns'
import { CampaignClient, type CampaignError, type WriteOutcome } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { operation } from '../contract/operations.ts'
import { closedAddress, httpServer, reset } from './loopback-server.ts'

afterEach(() => void vi.restoreAllMocks())

async function serving(respond: Parameters<typeof httpServer>[0]): Promise<string> {
  const server = await httpServer(respond)
  onTestFinished(() => server.close())
  return server.baseUrl
}

const TIMEOUT_MS = 10_000

/** Faults of the network. Each function returns the base URL of a service with this fault. */
const FAULTS = {
  'a refused connection': closedAddress,
  'a reset': () => serving(reset),
  'a truncated response': () =>
    serving((response) => {
      response.socket?.end(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"success":',
      )
    }),
  'an unknown host': async () => {
    // Without a resolver, a real lookup would fail with EAI_AGAIN.
    vi.spyOn(dns, 'lookup').mockImplementation(((hostname: string, ...rest: unknown[]) => {
      const message = `getaddrinfo ENOTFOUND ${hostname}`
      const error = Object.assign(new Error(message), { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname })
      const callback = rest.at(-1) as (error: Error) => void
      process.nextTick(callback, error)
    }) as typeof dns.lookup)
    return 'http://service.invalid/api/v1'
  },
  'a timeout': () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true })
    onTestFinished(() => void vi.useRealTimers())
    return serving(() => void vi.advanceTimersByTime(TIMEOUT_MS))
  },
} satisfies Record<string, () => Promise<string>>

const OPERATIONS = {
  read: operation('getCampaignPoints'),
  guarded: operation('rewardWallet'),
  unsafe: operation('recordActionValue'),
}

type Over = 'fetch' | 'nodeTransport'
const safe = { read: 3, guarded: 3, unsafe: 1 }
const all = { read: 3, guarded: 3, unsafe: 3 }

type Row = [Over, keyof typeof FAULTS, string, string | undefined, WriteOutcome, Record<string, number>]

/** The error of each fault, and the requests. `fetch` cannot prove that a request was not sent. `outcome` applies to writes. */
const TABLE: readonly Row[] = [
  ['fetch', 'a refused connection', 'network', 'ECONNREFUSED', 'unknown', safe],
  ['fetch', 'a reset', 'network', 'ECONNRESET', 'unknown', safe],
  ['fetch', 'a truncated response', 'network', 'UND_ERR_SOCKET', 'unknown', safe],
  ['fetch', 'an unknown host', 'network', 'ENOTFOUND', 'unknown', safe],
  ['fetch', 'a timeout', 'timeout', undefined, 'unknown', safe],
  ['nodeTransport', 'a refused connection', 'network', 'ECONNREFUSED', 'not_applied', all],
  ['nodeTransport', 'a reset', 'network', 'ECONNRESET', 'unknown', safe],
  ['nodeTransport', 'a truncated response', 'network', 'ECONNRESET', 'unknown', safe],
  ['nodeTransport', 'an unknown host', 'network', 'ENOTFOUND', 'not_applied', all],
  ['nodeTransport', 'a timeout', 'timeout', undefined, 'unknown', safe],
]

// The gate runs this table on each supported version of Node.js.
describe.each(TABLE)('over %s, after %s,', (over, fault, code, systemCode, outcome, requests) => {
  test.each(Object.entries(OPERATIONS))('a %s call ends with the same error on every Node.js', async (kind, called) => {
    const baseUrl = await FAULTS[fault]()
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const transport = over === 'nodeTransport' ? nodeTransport() : undefined
    onTestFinished(() => transport?.close())
    const onRequest = vi.fn()
    const client = new CampaignClient({
      baseUrl,
      accessToken: 'any',
      allowInsecureHttp: true,
      timeoutMs: TIMEOUT_MS,
      maxRetries: 2,
      hooks: { onRequest },
      ...(transport && { transport }),
    })
    const error = await called.run(client).then(
      () => expect.unreachable('the call resolved'),
      (reason: unknown) => reason as CampaignError & { systemCode?: string },
    )
    expect({ code: error.code, systemCode: error.systemCode, outcome: error.outcome }).toEqual({
      code,
      systemCode,
      outcome: called.writes ? outcome : undefined,
    })
    expect(onRequest).toHaveBeenCalledTimes(requests[kind] ?? 0)
  })
})
