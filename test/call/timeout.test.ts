import { CampaignClient, type CampaignClientOptions, TimeoutError } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { operation } from '../contract/operations.ts'
import { immediateRejection, rejection, settle } from './fake-time.ts'
import { httpServer, type LoopbackServer, type Responder, silence, tcpServer } from './loopback-server.ts'
import { hanging, refusal, refused, respond, type Step, scriptedFetch } from './scripted-fetch.ts'
import { scriptedTransports } from './scripted-transports.ts'

const read = operation('getCampaignPoints')
const award = operation('rewardWallet')
const record = operation('recordActionValue')
const envelope = { success: true, data: read.data }
const success = respond(200, envelope)

function clientOf(options: Partial<CampaignClientOptions>): CampaignClient {
  return new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'token', ...options })
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable('expected a rejection, but the call resolved'),
    (reason: unknown) => reason,
  )
}

describe.each([
  { over: 'fetch', open: () => undefined },
  { over: 'the Node transport', open: () => nodeTransport() },
])('against real servers, over $over', ({ open }) => {
  const beginsToRespond =
    (status: number, more: (response: Parameters<Responder>[0]) => void = () => undefined): Responder =>
    (response) => {
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"success":true,')
      more(response)
    }
  const sendsByteByByte = beginsToRespond(200, (response) => {
    const timer = setInterval(() => response.write(' '), 5)
    response.on('close', () => clearInterval(timer))
  })
  const headersOnly: Responder = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
  }

  const slow: [string, () => Promise<LoopbackServer>][] = [
    ['reads the request and never responds', () => httpServer(silence)],
    ['accepts the connection and sends nothing', () => tcpServer((socket) => socket.resume())],
    ['sends half a status line', () => tcpServer((socket) => socket.resume().write('HTTP/1.1 20'))],
    ['sends headers and stalls', () => httpServer(headersOnly)],
    ['stalls in the middle of the body', () => httpServer(beginsToRespond(200))],
    ['sends one byte at a time', () => httpServer(sendsByteByByte)],
    ['stalls in the body of a 400', () => httpServer(beginsToRespond(400))],
    ['stalls in the body of a 503', () => httpServer(beginsToRespond(503))],
  ]

  describe('a slow server', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    })
    afterEach(() => {
      vi.useRealTimers()
    })

    /** Starts a call, and lets 500 ms pass when the server has responded as far as it does. */
    async function afterTimeout(
      start: () => Promise<LoopbackServer>,
      run: (via: Pick<CampaignClientOptions, 'transport' | 'baseUrl'>) => Promise<unknown>,
    ) {
      const { baseUrl, sockets, clientHasRead, close } = await start()
      onTestFinished(close)
      const transport = open()
      onTestFinished(() => transport?.close())
      const error = errorOf(run({ transport, baseUrl }))
      await clientHasRead()
      vi.advanceTimersByTime(500)
      return { error: await error, sockets }
    }

    test.each(slow)('that %s causes a timeout after timeoutMs, and its connection is closed', async (_, start) => {
      const { error, sockets } = await afterTimeout(start, (via) =>
        award.run(clientOf({ ...via, timeoutMs: 500, maxRetries: 0 })),
      )
      expect(error).toBeInstanceOf(TimeoutError)
      expect(error).toMatchObject({ scope: 'attempt', timeoutMs: 500, operation: 'rewardWallet', outcome: 'unknown' })
      expect((error as TimeoutError).message).toContain('500 ms')
      await expect.poll(() => sockets[0]?.destroyed).toBe(true)
    })
  })
})

describe('with fake time', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })

  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  /** A `fetch` that ignores its signal. */
  const ignoresSignal: Step = () => new Promise(() => undefined)

  describe.each(scriptedTransports())('over $name', ({ script }) => {
    test('an attempt has 10 s by default', async () => {
      const { via } = script(hanging)
      const startedAt = performance.now()
      const error = await rejection(read.run(clientOf({ ...via, maxRetries: 0 })))
      expect(error).toMatchObject({ scope: 'attempt', timeoutMs: 10_000 })
      expect(performance.now() - startedAt).toBe(10_000)
    })

    test('a call has 60 s by default', async () => {
      const { via, sent } = script(hanging)
      const startedAt = performance.now()
      const error = await rejection(read.run(clientOf({ ...via, maxRetries: 99 })))
      expect(error).toMatchObject({ scope: 'total', timeoutMs: 60_000 })
      expect(performance.now() - startedAt).toBe(60_000)
      expect(sent).toHaveLength(6)
    })

    test('an attempt with timeoutMs above totalTimeoutMs ends the call without a retry', async () => {
      const { via, sent } = script(hanging)
      const error = await rejection(read.run(clientOf({ ...via, timeoutMs: 700, totalTimeoutMs: 700 })))
      expect(error).toMatchObject({ scope: 'total', timeoutMs: 700, message: expect.stringContaining('took longer') })
      expect(sent).toHaveLength(1)
    })

    test('a call can override the timeouts of its client', async () => {
      const { via } = script(hanging)
      const client = clientOf({ ...via, timeoutMs: 1, totalTimeoutMs: 2 })
      expect(await rejection(read.run(client, { timeoutMs: 700, totalTimeoutMs: 5000, maxRetries: 0 }))).toMatchObject({
        scope: 'attempt',
        timeoutMs: 700,
      })
      expect(await rejection(read.run(client, { timeoutMs: 700, totalTimeoutMs: 600 }))).toMatchObject({
        scope: 'total',
        timeoutMs: 600,
      })
    })

    test('the attempt that reaches the total timeout is the last', async () => {
      const { via, sent } = script(hanging)
      const error = await rejection(
        award.run(clientOf({ ...via, timeoutMs: 400, totalTimeoutMs: 1000, maxRetries: 9 })),
      )
      expect(error).toMatchObject({ scope: 'total', timeoutMs: 1000, outcome: 'unknown' })
      expect(error).not.toHaveProperty('cause')
      expect(sent).toHaveLength(3)
    })
  })

  test('a fetch that ignores its signal does not delay the call', async () => {
    const { fetch, sent } = scriptedFetch(ignoresSignal)
    expect(await rejection(award.run(clientOf({ fetch, timeoutMs: 50 })))).toMatchObject({ scope: 'attempt' })
    expect(sent).toHaveLength(3)
    expect(sent.every(({ signal }) => signal.aborted)).toBe(true)
  })

  test('a body that ignores its signal does not delay the call', async () => {
    const { fetch } = scriptedFetch(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })))
    const error = await rejection(award.run(clientOf({ fetch, timeoutMs: 50, maxRetries: 0 })))
    expect(error).toMatchObject({ scope: 'attempt', timeoutMs: 50, outcome: 'unknown' })
  })

  test('a late response of fetch has no effect', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    let lateResponse: (response: Response) => void = () => undefined
    let lateFailure: (reason: Error) => void = () => undefined
    const { fetch } = scriptedFetch(
      () =>
        new Promise((resolve) => {
          lateResponse = resolve
        }),
      () =>
        new Promise((_, reject) => {
          lateFailure = reject
        }),
      success,
    )
    expect(await settle(read.run(clientOf({ fetch, timeoutMs: 50 })))).toEqual({
      status: 'fulfilled',
      value: read.data,
    })
    lateResponse(Response.json({ success: false, error: { code: 400, message: 'late' } }, { status: 400 }))
    lateFailure(new Error('late'))
    vi.useRealTimers()
    await new Promise((resolve) => setImmediate(resolve))
    vi.useFakeTimers()
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  test('each attempt may take timeoutMs', async () => {
    const { fetch, sent } = scriptedFetch(
      () => new Promise((resolve) => setTimeout(() => resolve(refusal503()), 90)),
      () => new Promise((resolve) => setTimeout(() => resolve(Response.json(envelope)), 90)),
    )
    expect((await settle(read.run(clientOf({ fetch, timeoutMs: 100 })))).status).toBe('fulfilled')
    expect(sent).toHaveLength(2)
  })

  describe('the message gives the cause', () => {
    const messageOf = async (options: Partial<CampaignClientOptions>): Promise<string> =>
      (await rejection(record.run(clientOf(options)))).message

    test('if Retry-After is longer than the time left', async () => {
      const { fetch, sent } = scriptedFetch(refusal(429, { 'retry-after': '20' }))
      const startedAt = performance.now()
      const error = await rejection(record.run(clientOf({ fetch, totalTimeoutMs: 10_000 })))
      expect(performance.now()).toBe(startedAt)
      expect(error).toMatchObject({ code: 'timeout', scope: 'total', timeoutMs: 10_000, outcome: 'not_applied' })
      expect(error).toHaveProperty('cause.code', 'rate_limited')
      expect(error.message).toBe(
        'recordActionValue: no retry: the service asks to wait 20000 ms, and too little of totalTimeoutMs (10000 ms) would be left',
      )
      expect(sent).toHaveLength(1)
    })

    test('if Retry-After is as long as the time left', async () => {
      const { fetch, sent } = scriptedFetch(refusal(503, { 'retry-after': '10' }))
      const startedAt = performance.now()
      const error = await rejection(award.run(clientOf({ fetch, totalTimeoutMs: 10_000 })))
      expect(performance.now()).toBe(startedAt)
      expect(error).toMatchObject({ code: 'timeout', scope: 'total', outcome: 'unknown' })
      expect(sent).toHaveLength(1)
    })

    test('if the pause after the 429 of another call is longer than the time left', async () => {
      const { fetch } = scriptedFetch(refusal(429, { 'retry-after': '20' }), refusal(429))
      const client = clientOf({ fetch })
      const aborter = new AbortController()
      const patient = record.run(client, { signal: aborter.signal }).catch((reason: unknown) => reason)
      const startedAt = performance.now()
      const error = await rejection(record.run(client, { totalTimeoutMs: 10_000 }))
      expect(performance.now()).toBe(startedAt)
      expect(error).toMatchObject({ code: 'timeout', scope: 'total', outcome: 'not_applied' })
      aborter.abort('enough')
      expect(await patient).toBe('enough')
    })

    test('if the backoff is longer than the time left', async () => {
      vi.mocked(Math.random).mockReturnValue(0.999)
      const message = await messageOf({ fetch: scriptedFetch(refused).fetch, totalTimeoutMs: 200 })
      expect(message).toBe(
        'recordActionValue: no retry: a retry would wait 300 ms, and too little of totalTimeoutMs (200 ms) would be left',
      )
    })

    test('if an attempt or the whole call took too long', async () => {
      const { fetch } = scriptedFetch(hanging)
      expect(await messageOf({ fetch, timeoutMs: 50 })).toBe(
        'recordActionValue: the attempt took longer than timeoutMs (50 ms)',
      )
      expect(await messageOf({ fetch, totalTimeoutMs: 50 })).toBe(
        'recordActionValue: the call took longer than totalTimeoutMs (50 ms)',
      )
    })
  })

  describe('an attempt that would have less than a tenth of the smaller limit is not sent', () => {
    test.each([
      { timeoutMs: 1_000, totalTimeoutMs: 5_000, sourceMs: 4_900, attempts: 1 },
      { timeoutMs: 1_000, totalTimeoutMs: 5_000, sourceMs: 4_901, attempts: 0 },
      { timeoutMs: 60_000, totalTimeoutMs: 5_000, sourceMs: 4_500, attempts: 1 },
      { timeoutMs: 60_000, totalTimeoutMs: 5_000, sourceMs: 4_501, attempts: 0 },
    ])(
      'after a token source of $sourceMs ms, with timeouts of $timeoutMs and $totalTimeoutMs ms: attempts: $attempts',
      async (given) => {
        const { timeoutMs, totalTimeoutMs, sourceMs, attempts } = given
        const accessToken = () => new Promise<string>((resolve) => setTimeout(() => resolve('token'), sourceMs))
        const { fetch, sent } = scriptedFetch(hanging)
        const client = clientOf({ fetch, accessToken, timeoutMs, totalTimeoutMs })
        const error = await rejection(award.run(client))
        expect(error).toMatchObject({
          code: 'timeout',
          scope: 'total',
          outcome: attempts === 0 ? 'not_applied' : 'unknown',
        })
        // The call fails without considering a retry.
        expect(error).not.toHaveProperty('cause')
        expect(sent).toHaveLength(attempts)
      },
    )

    test('from a queue: calls that were admitted too late are not applied', async () => {
      const { fetch, sent } = scriptedFetch(async () => {
        await new Promise((resolve) => setTimeout(resolve, 480))
        return Response.json({ success: true })
      })
      const client = clientOf({ fetch, limits: { maxConcurrency: 1 }, totalTimeoutMs: 1_000, maxRetries: 0 })
      const calls = Promise.allSettled(Array.from({ length: 50 }, () => award.run(client)))
      await vi.advanceTimersByTimeAsync(60_000)
      const results = await calls
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
      for (const result of results.slice(2)) expect(result).toHaveProperty('reason.outcome', 'not_applied')
      expect(sent).toHaveLength(2)
    })

    test('as a retry: the call has the outcome of the first attempt', async () => {
      const { fetch, sent } = scriptedFetch(refusal(503, { 'retry-after': '5' }))
      const startedAt = performance.now()
      const error = await rejection(award.run(clientOf({ fetch, totalTimeoutMs: 5_400 })))
      expect(error).toMatchObject({ code: 'timeout', scope: 'total', outcome: 'unknown' })
      expect(performance.now()).toBe(startedAt)
      expect(sent).toHaveLength(1)
    })
  })

  describe('nothing is sent after the total timeout', () => {
    /** Simulates a process that was blocked. */
    let blockedMs = 0
    beforeEach(() => {
      blockedMs = 0
      const now = performance.now.bind(performance)
      vi.spyOn(performance, 'now').mockImplementation(() => now() + blockedMs)
    })

    test('if the token source took too long', async () => {
      const { fetch, sent } = scriptedFetch(success)
      const accessToken = (): string => {
        blockedMs = 60_000
        return 'token'
      }
      const error = await immediateRejection(record.run(clientOf({ fetch, accessToken })))
      expect(error).toBeInstanceOf(TimeoutError)
      expect(error).toMatchObject({ scope: 'total', timeoutMs: 60_000, outcome: 'not_applied' })
      expect(sent).toHaveLength(0)
    })

    test.each([
      [429, 'not_applied'],
      [503, 'unknown'],
    ])('if the timer of a wait fired late: after a %i, the outcome is %s', async (status, outcome) => {
      const { fetch, sent } = scriptedFetch(refusal(status, { 'retry-after': '5' }), success)
      const block = () => {
        blockedMs = 60_000
      }
      const client = clientOf({ fetch, hooks: { onRetry: () => void setTimeout(block, 4_000) } })
      expect(await rejection(award.run(client))).toMatchObject({ code: 'timeout', scope: 'total', outcome })
      expect(sent).toHaveLength(1)
    })
  })
})

function refusal503(): Response {
  return Response.json({ success: true, error: { code: 503, message: 'busy' } }, { status: 503 })
}
