import type { LambdaContext, LambdaHttpEvent, LambdaHttpResult } from 'campaign-client/webhook'
import { memoryStore } from 'campaign-client/webhook'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { activity, HEADER, SECRET, sign } from '../../signed-message.ts'
import { deferred, never, observedReceiver, recordingStore } from '../observed-receiver.ts'

/** Builds the event of each source. It has the fields that identify the source, and its spelling of header names. */
const SOURCES: Record<string, (method: string, headers: Record<string, string[]>) => LambdaHttpEvent> = {
  'API Gateway REST (payload 1.0)': (httpMethod, headers) => ({
    httpMethod,
    headers: last(headers),
    multiValueHeaders: headers,
    requestContext: { httpMethod, stage: 'prod' },
  }),
  'API Gateway HTTP API (payload 2.0)': (method, headers) => ({
    ...({ version: '2.0', routeKey: '$default' } as object),
    headers: joined(headers),
    requestContext: { http: { method } },
  }),
  'function URL': (method, headers) => ({
    ...({ version: '2.0', rawPath: '/' } as object),
    headers: joined(headers),
    requestContext: { http: { method }, domainName: 'x.lambda-url.eu-west-1.on.aws' },
  }),
  'load balancer': (httpMethod, headers) => ({
    httpMethod,
    headers: last(headers),
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:…' } },
  }),
  'load balancer with multi-value headers': (httpMethod, headers) => ({
    httpMethod,
    multiValueHeaders: headers,
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:…' } },
  }),
}

function last(headers: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.at(-1) ?? '']))
}

function joined(headers: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name.toLowerCase(), values.join(',')]))
}

function eventOf(
  source: string,
  body: string,
  { base64 = false, secret }: { base64?: boolean; secret?: string } = {},
): LambdaHttpEvent {
  const make = SOURCES[source]
  if (make === undefined) expect.unreachable(source)
  return {
    ...make('POST', { 'X-Service-Signature': [sign(body, secret)], 'Content-Type': ['application/json'] }),
    body: base64 ? Buffer.from(body).toString('base64') : body,
    isBase64Encoded: base64,
  }
}

function headerOf(result: LambdaHttpResult, name: string): string | undefined {
  return result.headers?.[name] ?? result.multiValueHeaders?.[name]?.[0]
}

const message = (): string => JSON.stringify(activity({ team: 'Zoë ✓' }))

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe.each(Object.keys(SOURCES))('%s', (source) => {
  test.each([true, false])(
    'a signed message is handled once, and a forged one is refused (base64: %s)',
    async (base64) => {
      const { receiver, handled, errors } = observedReceiver()
      const body = message()
      const first = await receiver.lambda(eventOf(source, body, { base64 }))
      expect([first.statusCode, JSON.parse(first.body)]).toEqual([200, { ok: true, result: 'handled' }])
      expect(headerOf(first, 'content-type')).toBe('application/json; charset=utf-8')
      expect(first.isBase64Encoded).toBe(false)
      const second = await receiver.lambda(eventOf(source, body, { base64 }))
      expect(JSON.parse(second.body)).toEqual({ ok: true, result: 'duplicate' })
      expect((await receiver.lambda(eventOf(source, body, { base64, secret: 'forged' }))).statusCode).toBe(401)
      expect(handled).toHaveLength(1)
      expect(errors).toEqual([])
    },
  )

  test('another method is 405 with an Allow header', async () => {
    const make = SOURCES[source]
    const result = await observedReceiver().receiver.lambda(make?.('GET', {}) ?? {})
    expect([result.statusCode, headerOf(result, 'allow')]).toEqual([405, 'POST'])
  })

  test.each([null, undefined, ''])('the body %j is read as an empty body', async (body) => {
    const { receiver, rejections } = observedReceiver()
    const { body: _, ...event } = eventOf(source, '')
    const result = await receiver.lambda(body === undefined ? event : { ...event, body })
    expect(result.statusCode).toBe(400)
    expect(rejections).toMatchObject([{ reason: 'invalid_json' }])
  })

  test.each([true, false])('a body over the limit is refused (base64: %s)', async (base64) => {
    const body = message()
    const size = Buffer.byteLength(body)
    const exact = observedReceiver({ maxBodyBytes: size })
    expect((await exact.receiver.lambda(eventOf(source, body, { base64 }))).statusCode).toBe(200)
    const short = observedReceiver({ maxBodyBytes: size - 1 })
    expect((await short.receiver.lambda(eventOf(source, body, { base64 }))).statusCode).toBe(413)
  })

  test('a body parsed by a middleware: 500, and onError receives the cause', async () => {
    const { receiver, errors } = observedReceiver()
    const result = await receiver.lambda({ ...eventOf(source, message()), body: activity() as never })
    expect(result.statusCode).toBe(500)
    expect(String(errors[0]?.error)).toContain('event.body is not a string')
  })

  test('a body that is not base64 although isBase64Encoded is true: 500', async () => {
    const { receiver, errors } = observedReceiver()
    const result = await receiver.lambda({ ...eventOf(source, message()), isBase64Encoded: true, body: '{"id":1}' })
    expect(result.statusCode).toBe(500)
    expect(errors).toMatchObject([{ error: { code: 'body_not_raw' } }])
  })
})

describe('headers', () => {
  test.each([
    'API Gateway REST (payload 1.0)',
    'API Gateway HTTP API (payload 2.0)',
    'load balancer with multi-value headers',
  ])('two signature values are refused (%s)', async (source) => {
    const { receiver, rejections } = observedReceiver()
    const body = message()
    const event = { ...SOURCES[source]?.('POST', { [HEADER]: [sign(body, 'forged'), sign(body)] }), body }
    expect((await receiver.lambda(event)).statusCode).toBe(401)
    expect(rejections).toMatchObject([{ reason: 'malformed_signature' }])
  })

  test('two signature headers that differ in case are refused', async () => {
    const { receiver } = observedReceiver()
    const body = message()
    const headers = { [HEADER]: sign(body), 'X-Service-Signature': sign(body) }
    expect((await receiver.lambda({ httpMethod: 'POST', headers, body })).statusCode).toBe(401)
  })

  test.each([null, {}])('the field headers is used when multiValueHeaders is %j', async (multiValueHeaders) => {
    const body = message()
    const event = { httpMethod: 'POST', headers: { [HEADER]: sign(body) }, multiValueHeaders, body }
    expect((await observedReceiver().receiver.lambda(event)).statusCode).toBe(200)
  })

  test.each([null, { [HEADER]: undefined }])('an event with the headers %j is refused', async (headers) => {
    const { receiver, rejections } = observedReceiver()
    expect((await receiver.lambda({ httpMethod: 'POST', headers, body: '{}' })).statusCode).toBe(401)
    expect(rejections).toMatchObject([{ reason: 'missing_signature' }])
  })
})

describe('the form of the response', () => {
  test('each source gets the fields that it reads', async () => {
    const shapes: Record<string, string[]> = {}
    for (const source of Object.keys(SOURCES)) {
      const result = await observedReceiver().receiver.lambda(eventOf(source, message(), { secret: 'forged' }))
      shapes[source] = Object.keys(result).sort()
      if ('statusDescription' in result) expect(result.statusDescription).toBe('401 Unauthorized')
    }
    const plain = ['body', 'headers', 'isBase64Encoded', 'statusCode']
    expect(shapes).toEqual({
      'API Gateway REST (payload 1.0)': plain,
      'API Gateway HTTP API (payload 2.0)': plain,
      'function URL': plain,
      'load balancer': [...plain, 'statusDescription'],
      'load balancer with multi-value headers': [
        'body',
        'isBase64Encoded',
        'multiValueHeaders',
        'statusCode',
        'statusDescription',
      ],
    })
  })

  test.each([[undefined], [null], [{}], [{ Records: [] }], [{ requestContext: {} }]])(
    'an event that is not an HTTP event (%j) rejects with the reason',
    async (event) => {
      const { receiver } = observedReceiver()
      await expect(receiver.lambda(event as never)).rejects.toThrow(TypeError)
      await expect(receiver.lambda(event as never)).rejects.toThrow(/not an HTTP event/)
    },
  )
})

describe('time limits', () => {
  const SOURCE = 'function URL'

  test('the response waits for the handler after deadlineMs', async () => {
    const running = deferred()
    const { receiver } = observedReceiver({ deadlineMs: 1000, handle: () => running.promise })
    const response = receiver.lambda(eventOf(SOURCE, message()))
    await vi.advanceTimersByTimeAsync(60_000)
    running.resolve()
    expect((await response).statusCode).toBe(200)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('the response waits until a later attempt records the message', async () => {
    const inner = memoryStore()
    let isDown = true
    const { store } = recordingStore(inner, {
      complete: (...delivery) => (isDown ? Promise.reject(new Error('down')) : inner.complete(...delivery)),
    })
    const { receiver } = observedReceiver({ store })
    const body = message()
    let hasResponded = false
    const response = receiver.lambda(eventOf(SOURCE, body)).finally(() => {
      hasResponded = true
    })
    await vi.advanceTimersByTimeAsync(100)
    expect(hasResponded).toBe(false)
    isDown = false
    await vi.advanceTimersByTimeAsync(10_000)
    expect((await response).statusCode).toBe(200)
    const key = JSON.stringify(['campaign', JSON.parse(body).id])
    expect(await inner.claim(key, 1)).toEqual({ state: 'done' })
  })

  test('deadlineMs limits the time before the handler', async () => {
    const { receiver } = observedReceiver({ deadlineMs: 1000, store: { ...memoryStore(), claim: () => never } })
    const response = receiver.lambda(eventOf(SOURCE, message()))
    await vi.advanceTimersByTimeAsync(1000)
    expect((await response).statusCode).toBe(503)
  })

  test('when less time is left than deadlineMs, a hung store or secret function is reported before the end', async () => {
    for (const [stage, options] of [
      ['claim', { store: { ...memoryStore(), claim: () => never } }],
      ['secret', { secret: () => never }],
    ] as const) {
      const { receiver, errors } = observedReceiver(options)
      const response = receiver.lambda(eventOf(SOURCE, message()), { getRemainingTimeInMillis: () => 3000 })
      await vi.advanceTimersByTimeAsync(2700)
      expect(errors).toMatchObject([{ error: { message: expect.stringContaining('2700 ms') }, context: { stage } }])
      expect((await response).statusCode).toBe(503)
    }
  })

  test.each([
    [30_000, 29_000],
    [5000, 4000],
    [3000, 2200],
  ])('with %d ms left, the signal fires after %d ms', async (remainingMs, abortedAt) => {
    const signals: AbortSignal[] = []
    const inner = memoryStore()
    const { receiver } = observedReceiver({
      store: inner,
      handle: (_event, { signal }) => {
        signals.push(signal)
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    const body = message()
    const response = receiver.lambda(eventOf(SOURCE, body), { getRemainingTimeInMillis: () => remainingMs })
    await vi.advanceTimersByTimeAsync(abortedAt - 1)
    expect(signals[0]?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(signals[0]?.reason).toMatchObject({ code: 'run_time_exceeded' })
    expect((await response).statusCode).toBe(503)
    // The claim was released, so the next attempt is handled.
    const key = JSON.stringify(['campaign', JSON.parse(body).id])
    expect((await inner.claim(key, 1)).state).toBe('claimed')
  })

  test.each([
    [30_000, 29_500],
    [5000, 4500],
    [3000, 2700],
    [400, 360],
  ])(
    'with %d ms left, the response is sent after %d ms if the handler ignores its signal',
    async (remainingMs, respondedAt) => {
      // The time limit starts when the event arrives, not when the secret does.
      const secret = () => new Promise<string>((resolve) => setTimeout(() => resolve(SECRET), 100))
      const { receiver } = observedReceiver({ secret, handle: () => never })
      const response = receiver.lambda(eventOf(SOURCE, message()), { getRemainingTimeInMillis: () => remainingMs })
      let hasResponded = false
      void response.then(() => {
        hasResponded = true
      })
      await vi.advanceTimersByTimeAsync(respondedAt - 1)
      expect(hasResponded).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect((await response).statusCode).toBe(503)
    },
  )

  const INVOCATION =
    /^the webhook handler has to stop before its invocation ends; the claim ends when the handler ends or the lease expires/
  const MAX_RUN = /^the webhook handler ran for maxRunMs; the claim ends when the handler ends or the lease expires/

  test.each([
    ['the invocation, when it ends first', 3000, 2201, INVOCATION],
    ['maxRunMs, when it ends first', 3000, 2199, MAX_RUN],
    ['maxRunMs, when both end at once', 3000, 2200, MAX_RUN],
    ['maxRunMs, when the invocation has no time limit', undefined, 5000, MAX_RUN],
  ])('the error for a handler that has to stop names %s', async (_, remainingMs, maxRunMs, words) => {
    const inner = memoryStore()
    const { receiver, errors, rejections } = observedReceiver({
      store: inner,
      maxRunMs,
      handle: (_event, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const body = message()
    const context = remainingMs === undefined ? undefined : { getRemainingTimeInMillis: () => remainingMs }
    const response = receiver.lambda(eventOf(SOURCE, body), context)
    await vi.advanceTimersByTimeAsync(maxRunMs)
    expect((await response).statusCode).toBe(503)
    expect(rejections).toMatchObject([{ reason: 'busy' }])
    expect(errors).toMatchObject([
      { error: { code: 'run_time_exceeded', message: expect.stringMatching(words) }, context: { stage: 'handle' } },
    ])
    // The claim is released when the handler ends.
    const key = JSON.stringify(['campaign', JSON.parse(body).id])
    expect((await inner.claim(key, 1)).state).toBe('claimed')
  })

  test('with 3 s left, a handler of 2.1 s that looks at its signal is handled', async () => {
    const { receiver } = observedReceiver({
      async handle(_event, { signal }) {
        for (let step = 0; step < 3; step++) {
          await new Promise((resolve) => setTimeout(resolve, 700))
          if (signal.aborted) return
        }
      },
    })
    const response = receiver.lambda(eventOf(SOURCE, message()), { getRemainingTimeInMillis: () => 3000 })
    await vi.advanceTimersByTimeAsync(2100)
    expect((await response).statusCode).toBe(200)
  })

  test.each([undefined, null, {}, { getRemainingTimeInMillis: () => Infinity }])(
    'with the context %j, maxRunMs limits the handler and the response',
    async (context) => {
      const signals: AbortSignal[] = []
      const { receiver } = observedReceiver({
        maxRunMs: 20_000,
        handle(_event, { signal }) {
          signals.push(signal)
          return never
        },
      })
      const response = receiver.lambda(eventOf(SOURCE, message()), context as LambdaContext)
      await vi.advanceTimersByTimeAsync(19_999)
      expect(signals[0]?.aborted).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect(signals[0]?.aborted).toBe(true)
      await vi.advanceTimersByTimeAsync(500)
      expect((await response).statusCode).toBe(503)
    },
  )

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('not available')
      },
    ],
    ['returns NaN', () => Number.NaN],
    ['returns text', () => '3000'],
  ])('a context that %s for the time left: the response is due after deadlineMs', async (_, timeLeft) => {
    const context = { getRemainingTimeInMillis: timeLeft as () => number }
    const running = deferred()
    const { receiver, errors } = observedReceiver({ deadlineMs: 4000, handle: () => running.promise })
    const quick = receiver.lambda(eventOf(SOURCE, message()), context)
    await vi.advanceTimersByTimeAsync(3400)
    running.resolve()
    expect((await quick).statusCode).toBe(200)
    expect(errors).toEqual([])

    const slow = observedReceiver({ deadlineMs: 4000, handle: () => never })
    const response = slow.receiver.lambda(eventOf(SOURCE, message()), context)
    await vi.advanceTimersByTimeAsync(4000)
    expect((await response).statusCode).toBe(503)
    expect(slow.errors).toMatchObject([{ error: { code: 'run_time_exceeded' }, context: { stage: 'handle' } }])
  })
})
