import {
  AccessDeniedError,
  AccessTokenError,
  ApiError,
  BadRequestError,
  CampaignClient,
  type CampaignError,
  type CommonClientOptions,
  NetworkError,
  RateLimitError,
  ReferralRejectedError,
  ServiceError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedResponseError,
} from 'campaign-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Operation, operation, operations } from '../contract/operations.ts'
import { rejection, settle } from './fake-time.ts'
import { hanging, lost, noSuchHost, refusal, refused, respond, type Step } from './scripted-fetch.ts'
import { type Scripted, scriptedTransports } from './scripted-transports.ts'

type Rule = Operation['retry']

/** A row of the table of retry rules. */
interface Row {
  readonly after: string
  readonly step: Step
  /** The retry classes of the operations that are retried. */
  readonly retried: readonly Rule[]
  readonly error: abstract new (...args: never[]) => CampaignError
  /** The outcome of a write after this failure. */
  readonly outcome: 'not_applied' | 'unknown'
}

const ALL: readonly Rule[] = ['safe', 'guarded', 'unsafe']
const NOT_UNSAFE: readonly Rule[] = ['safe', 'guarded']

const row = (
  after: string,
  step: Step,
  retried: readonly Rule[],
  error: Row['error'],
  outcome: Row['outcome'],
): Row => ({ after, step, retried, error, outcome })

const envelope = (code: number): unknown => ({ success: false, error: { code, message: 'scripted' } })

const rows: readonly Row[] = [
  row('429', refusal(429), ALL, RateLimitError, 'not_applied'),
  row('a refused connection', refused, ALL, NetworkError, 'not_applied'),
  row('no such host', noSuchHost, ALL, NetworkError, 'not_applied'),
  row('error code 429 in a 200', respond(200, envelope(429)), ALL, RateLimitError, 'not_applied'),

  row('408', refusal(408), NOT_UNSAFE, ApiError, 'unknown'),
  row('500', refusal(500), NOT_UNSAFE, ServiceError, 'unknown'),
  row('502', refusal(502), NOT_UNSAFE, ServiceError, 'unknown'),
  row('503', refusal(503), NOT_UNSAFE, ServiceError, 'unknown'),
  row('504', refusal(504), NOT_UNSAFE, ServiceError, 'unknown'),
  row('an HTML 502', () => new Response('<h1>Bad gateway</h1>', { status: 502 }), NOT_UNSAFE, ServiceError, 'unknown'),
  row('a lost connection', lost, NOT_UNSAFE, NetworkError, 'unknown'),
  row('an attempt timeout', hanging, NOT_UNSAFE, TimeoutError, 'unknown'),
  row('error code 500 in a 200', respond(200, envelope(500)), NOT_UNSAFE, ServiceError, 'unknown'),
  row('error code 503 in a 200', respond(200, envelope(503)), NOT_UNSAFE, ServiceError, 'unknown'),

  row('400', refusal(400), [], BadRequestError, 'not_applied'),
  row('401 of a token that cannot be renewed', refusal(401), [], UnauthorizedError, 'not_applied'),
  row('403', refusal(403), [], AccessDeniedError, 'not_applied'),
  row('404', refusal(404), [], ApiError, 'not_applied'),
  row('409', refusal(409), [], ApiError, 'not_applied'),
  row('425', refusal(425), [], ApiError, 'not_applied'),
  row('error code 400 in a 200', respond(200, envelope(400)), [], BadRequestError, 'not_applied'),
  row(
    'a string error',
    respond(400, { success: false, error: 'missing_user' }),
    [],
    ReferralRejectedError,
    'not_applied',
  ),

  row('501', refusal(501), [], ServiceError, 'unknown'),
  row('505', refusal(505), [], ServiceError, 'unknown'),
  row('520', refusal(520), [], ServiceError, 'unknown'),
  row('error code 501 in a 200', respond(200, envelope(501)), [], ServiceError, 'unknown'),
  row('a 2xx that is not JSON', () => new Response('<h1>It works</h1>'), [], UnexpectedResponseError, 'unknown'),
  row('a 2xx without an envelope', respond(200, []), [], UnexpectedResponseError, 'unknown'),
  row(
    'a redirect',
    () => new Response(null, { status: 307, headers: { location: '/' } }),
    [],
    UnexpectedResponseError,
    'unknown',
  ),
]

function clientOf(via: Scripted['via'], options: Partial<CommonClientOptions> = {}): CampaignClient {
  return new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'static-token',
    webhookRegistrationPath: 'webhooks',
    ...via,
    ...options,
  })
}

const success = (of: Operation): Step => respond(200, { success: true, data: of.data })

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** One operation for each rule. */
const examples = ['getUserProgress', 'rewardWallet', 'recordActionValue'].map((name) =>
  operation(name as Operation['name']),
)

describe.each(scriptedTransports())('over $name', ({ name: transport, script }) => {
  // The Node transport does not know the operation.
  const called = transport === 'fetch' ? operations : examples

  describe.each(rows)('after $after', ({ step, retried, error: expected, outcome }) => {
    test.each(called)('$name ($retry) has the expected error, attempts and outcome', async (of) => {
      const { via, sent } = script(step)
      const error = await rejection(of.run(clientOf(via)))

      expect(error).toBeInstanceOf(expected)
      expect((error as CampaignError).operation).toBe(of.name)
      expect(sent).toHaveLength(retried.includes(of.retry) ? 3 : 1)
      if (of.writes) expect(error).toHaveProperty('outcome', outcome)
      else expect(error).not.toHaveProperty('outcome')
    })

    test.each(called.filter(({ retry }) => retried.includes(retry)))('$name succeeds at the last retry', async (of) => {
      const { via, sent } = script(step, step, success(of))
      expect(await settle(of.run(clientOf(via)))).toEqual({ status: 'fulfilled', value: of.result })
      expect(sent).toHaveLength(3)
    })
  })

  describe('401 with a token source', () => {
    const renewing = (via: Scripted['via'], options: Partial<CommonClientOptions> = {}) => {
      let calls = 0
      return clientOf(via, { accessToken: () => `token-${++calls}`, ...options })
    }

    test.each(called)('$name is replayed once with a new token', async (of) => {
      const { via, sent } = script(refusal(401), success(of))
      expect(await settle(of.run(renewing(via)))).toEqual({ status: 'fulfilled', value: of.result })
      expect(sent.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
      expect(sent[1]?.body).toBe(sent[0]?.body)
    })

    test.each(called)('$name stops at the second 401', async (of) => {
      const { via, sent } = script(refusal(401))
      const error = await rejection(of.run(renewing(via)))
      expect(error).toBeInstanceOf(UnauthorizedError)
      expect(sent).toHaveLength(2)
      if (of.writes) expect(error).toHaveProperty('outcome', 'not_applied')
      else expect(error).not.toHaveProperty('outcome')
    })

    test('an error code of 401 in a 200 renews the token, too', async () => {
      const of = operation('recordActionValue')
      const { via, sent } = script(respond(200, envelope(401)), success(of))
      expect((await settle(of.run(renewing(via)))).status).toBe('fulfilled')
      expect(sent).toHaveLength(2)
    })

    test('the retry after a 401 does not wait, even with Retry-After', async () => {
      const of = operation('getUserProgress')
      const { via } = script(refusal(401, { 'retry-after': '20' }), success(of))
      // The clock does not advance, so any timer would block the test.
      expect(await of.run(renewing(via))).toEqual(of.result)
    })

    test('the token is renewed at most once per call, even with other failures in between', async () => {
      const of = operation('updateUser')
      const { via, sent } = script(refusal(401), refusal(503), refusal(401), success(of))
      expect(await rejection(of.run(renewing(via, { maxRetries: 9 })))).toBeInstanceOf(UnauthorizedError)
      expect(sent).toHaveLength(3)
    })

    test('an unsafe write is not retried if the attempt after the 401 may have been applied', async () => {
      const of = operation('recordActionValue')
      const { via, sent } = script(refusal(401), refusal(503), success(of))
      expect(await rejection(of.run(renewing(via)))).toMatchObject({ code: 'service_error', outcome: 'unknown' })
      expect(sent).toHaveLength(2)
    })

    test('an unsafe write is retried if the attempt after the 401 was certainly not sent', async () => {
      const of = operation('recordActionValue')
      const { via, sent } = script(refusal(401), refused, success(of))
      expect((await settle(of.run(renewing(via)))).status).toBe('fulfilled')
      expect(sent).toHaveLength(3)
    })
  })

  describe('the outcome after an earlier attempt', () => {
    const ambiguous: readonly (readonly [string, Step])[] = [
      ['408', refusal(408)],
      ['500', refusal(500)],
      ['503 in a 200', respond(200, envelope(503))],
      ['a lost connection', lost],
      ['an attempt timeout', hanging],
    ]
    const guarded = called.filter(({ retry }) => retry === 'guarded')
    const cases = ambiguous.flatMap(([name, step]) => guarded.map((of) => ({ after: name, step, of, name: of.name })))

    test.each(cases)('$name: 400 after $after has the outcome unknown', async ({ step, of }) => {
      const { via, sent } = script(step, refusal(400))
      const error = await rejection(of.run(clientOf(via)))
      expect(error).toBeInstanceOf(BadRequestError)
      expect(error).toHaveProperty('outcome', 'unknown')
      expect(sent).toHaveLength(2)
    })

    test.each(cases)('$name: only 429 responses after $after have the outcome unknown', async ({ step, of }) => {
      const { via, sent } = script(step, refusal(429))
      const error = await rejection(of.run(clientOf(via)))
      expect(error).toBeInstanceOf(RateLimitError)
      expect(error).toHaveProperty('outcome', 'unknown')
      expect(sent).toHaveLength(3)
    })

    test.each<[string, Operation['name'], Step, object]>([
      [
        'a refused referral',
        'setReferrer',
        respond(400, { success: false, error: 'missing_user' }),
        { code: 'referral_rejected' },
      ],
      ['an unreachable host', 'rewardWallet', refused, { code: 'network', systemCode: 'ECONNREFUSED' }],
    ])('%s after a lost connection has the outcome unknown', async (_, name, step, fields) => {
      const error = await rejection(operation(name).run(clientOf(script(lost, step).via)))
      expect(error).toMatchObject({ ...fields, outcome: 'unknown' })
    })

    test('a token source that fails after a lost connection has the outcome unknown', async () => {
      const accessToken = vi
        .fn<() => string>()
        .mockReturnValueOnce('first')
        .mockImplementation(() => {
          throw new Error('vault sealed')
        })
      const { via, sent } = script(lost, refusal(401))
      const error = await rejection(operation('rewardWallet').run(clientOf(via, { accessToken })))
      expect(error).toBeInstanceOf(AccessTokenError)
      expect(error).toHaveProperty('outcome', 'unknown')
      expect(sent).toHaveLength(2)
    })

    test.each(guarded)('$name: attempts that were certainly not applied do not change the outcome', async (of) => {
      const { via, sent } = script(refusal(429), refused, refusal(400))
      expect(await rejection(of.run(clientOf(via)))).toMatchObject({ code: 'bad_request', outcome: 'not_applied' })
      expect(sent).toHaveLength(3)
    })

    test('an unsafe write is retried until an attempt may have been applied', async () => {
      const of = operation('recordActionValue')
      const { via, sent } = script(refused, refusal(429), lost, success(of))
      const error = await rejection(of.run(clientOf(via, { maxRetries: 9 })))
      expect(error).toMatchObject({ code: 'network', systemCode: 'ECONNRESET', outcome: 'unknown' })
      expect(sent).toHaveLength(3)
    })

    test('the outcome does not depend on earlier calls', async () => {
      const of = operation('rewardWallet')
      const { via } = script(lost, refusal(400))
      const client = clientOf(via, { maxRetries: 0 })
      expect(await rejection(of.run(client))).toMatchObject({ outcome: 'unknown' })
      expect(await rejection(of.run(client))).toMatchObject({ outcome: 'not_applied' })
    })
  })

  describe('the number of attempts', () => {
    test.each([0, 1, 2, 7])('is 1 more than maxRetries: %i', async (maxRetries) => {
      const { via, sent } = script(refusal(503))
      await rejection(operation('rewardWallet').run(clientOf(via, { maxRetries })))
      expect(sent).toHaveLength(maxRetries + 1)
    })

    test('can be set by a call', async () => {
      const { via, sent } = script(refused)
      const client = clientOf(via, { maxRetries: 5 })
      await rejection(operation('recordActionValue').run(client, { maxRetries: 1 }))
      expect(sent).toHaveLength(2)
    })

    test('includes the attempt after a 401', async () => {
      const { via, sent } = script(refusal(401), refusal(503))
      const client = clientOf(via, { accessToken: () => 'token', maxRetries: 2 })
      expect(await rejection(operation('rewardWallet').run(client))).toBeInstanceOf(ServiceError)
      expect(sent).toHaveLength(3)
    })

    test('does not change the request: each attempt sends the same', async () => {
      const of = operation('rewardWallet')
      const { via, sent } = script(refusal(503), lost, success(of))
      await settle(of.run(clientOf(via)))
      const requests = sent.map(({ method, url, authorization, body }) => ({ method, url, authorization, body }))
      expect(requests[1]).toEqual(requests[0])
      expect(requests[2]).toEqual(requests[0])
      expect(requests[0]?.body).toBe(of.sent)
    })
  })
})
