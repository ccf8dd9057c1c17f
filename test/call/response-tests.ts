import {
  AccessDeniedError,
  ApiError,
  BadRequestError,
  type CampaignClient,
  type CampaignError,
  type CommonClientOptions,
  type OperationName,
  RateLimitError,
  ReferralRejectedError,
  ServiceError,
  UnauthorizedError,
  UnexpectedResponseError,
} from 'campaign-client'
import { describe, expect, it } from 'vitest'
import { clientWith, json, rejection, type StubResponse } from '../client/stub-service.ts'
import { contract, type Operation, operation, operations } from '../contract/operations.ts'

/** How the tests set a response and create a client. */
interface Setup {
  respond(name: OperationName, response: StubResponse): void
  client(options?: Partial<CommonClientOptions>): CampaignClient
  /** Returns the number of requests in this test. */
  received(): number
  /** The operations for the table of responses. @defaultValue all */
  readonly tabled?: readonly Operation[]
}

interface Row extends StubResponse {
  readonly name: string
  readonly type: new (...args: never[]) => CampaignError
  readonly code: string
  /** The `outcome` of a write. A read has none. */
  readonly outcome: 'not_applied' | 'unknown'
  /** Other fields of the error. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Fields that must be absent. */
  readonly absent?: readonly string[]
}

const BAD = { type: BadRequestError, code: 'bad_request', outcome: 'not_applied' } as const
const UNAUTHORIZED = { type: UnauthorizedError, code: 'unauthorized', outcome: 'not_applied' } as const
const DENIED = { type: AccessDeniedError, code: 'access_denied', outcome: 'not_applied' } as const
const LIMITED = { type: RateLimitError, code: 'rate_limited', outcome: 'not_applied' } as const
const BROKEN = { type: ServiceError, code: 'service_error', outcome: 'unknown' } as const
const REFUSED = { type: ApiError, code: 'api_error', outcome: 'not_applied' } as const
const UNCLEAR = { type: ApiError, code: 'api_error', outcome: 'unknown' } as const
const REJECTED = { type: ReferralRejectedError, code: 'referral_rejected', outcome: 'not_applied' } as const
const UNEXPECTED = { type: UnexpectedResponseError, code: 'unexpected_response', outcome: 'unknown' } as const

/** The documented statuses, and the statuses of proxies in front of the service. */
const byStatus = [
  [400, BAD],
  [401, UNAUTHORIZED],
  [403, DENIED],
  [404, REFUSED],
  [408, UNCLEAR],
  [409, REFUSED],
  [422, REFUSED],
  [429, LIMITED],
  [500, BROKEN],
  [502, BROKEN],
  [503, BROKEN],
  [504, BROKEN],
  [599, BROKEN],
] as const

const errorObjects: Row[] = [true, false].flatMap((success) => [
  ...byStatus.map(
    ([code, kind]): Row => ({
      ...kind,
      name: `200, error object with code ${code}, success ${success}`,
      body: json({ success, error: { code, message: 'no luck' } }),
      fields: { status: 200, serviceCode: code, message: expect.stringContaining('no luck') },
      absent: ['reason'],
    }),
  ),
  ...[7, -1, 200, 600, 2 ** 31].map(
    (code): Row => ({
      // A code that is not an HTTP status has no known meaning.
      ...UNCLEAR,
      name: `200, error object with the unknown code ${code}, success ${success}`,
      body: json({ success, error: { code, message: 'no luck' } }),
      fields: { status: 200, serviceCode: code },
    }),
  ),
])

/** Without a code, only `success: false` shows that nothing was applied. */
const errorObjectsWithoutCode: Row[] = [
  ['absent', {}],
  ['a string', { code: '400' }],
  ['a fraction', { code: 400.5 }],
  ['null', { code: null }],
].flatMap(([what, error]) => [
  {
    ...UNCLEAR,
    name: `200, error object whose code is ${what}, success true`,
    body: json({ success: true, error, data: {} }),
    absent: ['serviceCode'],
  },
  {
    ...REFUSED,
    name: `200, error object whose code is ${what}, success false`,
    body: json({ success: false, error }),
    absent: ['serviceCode'],
  },
])

/** Every non-empty `error` is an error. Without `success: false`, the outcome of a write is unknown. */
const errorsOfOtherForms: Row[] = [
  ['a number', 403],
  ['a fraction', 0.5],
  ['true', true],
  ['a list of errors', [{ code: 403, message: 'no luck' }]],
  ['a list of strings', ['no luck']],
  ['a list with null', [null]],
  ['a string', 'no luck'],
  ['white space', ' '],
  ['a status as a string', '500'],
  ['an object with other fields', { status: 403, detail: 'no luck' }],
  ['an object in an object', { error: { code: 403 } }],
  ['an object with length 0', { length: 0 }],
].flatMap(([what, error]) => [
  {
    ...UNCLEAR,
    name: `200, an error that is ${what}, success true, beside data`,
    body: json({ success: true, error, data: {} }),
    fields: { status: 200 },
    absent: ['serviceCode'],
  },
  {
    ...UNCLEAR,
    name: `200, an error that is ${what}, without success`,
    body: json({ error }),
  },
  {
    ...REFUSED,
    name: `200, an error that is ${what}, success false`,
    body: json({ success: false, error }),
  },
])

const errorStrings: Row[] = [
  ...['missing_user', 'self_referral_not_allowed'].flatMap((reason): Row[] => [
    ...[200, 202, 400, 403, 404, 409, 422].map((status) => ({
      ...REJECTED,
      name: `${status}, error '${reason}'`,
      status,
      body: json({ success: false, error: reason }),
      fields: { status, reason },
      absent: ['serviceCode'],
    })),
    {
      ...REJECTED,
      name: `200, error '${reason}', though success is true`,
      body: json({ success: true, error: reason, data: {} }),
      fields: { status: 200, reason },
    },
    {
      ...BROKEN,
      name: `500, error '${reason}'`,
      status: 500,
      body: json({ success: false, error: reason }),
      fields: { status: 500, reason },
    },
  ]),
  {
    ...REFUSED,
    name: `200, undocumented error 'already_referred'`,
    body: json({ success: false, error: 'already_referred' }),
    fields: { status: 200, reason: 'already_referred', message: expect.stringContaining('already_referred') },
  },
  {
    ...BAD,
    name: `400, error 'already_referred'`,
    status: 400,
    body: json({ success: false, error: 'already_referred' }),
    fields: { status: 400, reason: 'already_referred' },
  },
]

const refusalsWithoutError: Row[] = [
  { ...REFUSED, name: '200, success false', body: json({ success: false }), absent: ['reason', 'serviceCode'] },
  { ...REFUSED, name: '200, success false with data', body: json({ success: false, data: {} }) },
  { ...REFUSED, name: '200, success false, error null', body: json({ success: false, error: null }) },
  {
    ...REFUSED,
    name: '200, success false, an empty error',
    body: json({ success: false, error: '' }),
    absent: ['reason'],
  },
]

const HTML = '<!doctype html><title>Sign in</title>'
const CUT_OFF = '{"success":true,"data":{"id":"e1","us'

const notUnderstood: Row[] = [
  ...(
    [
      ['HTML', HTML, []],
      ['plain text', 'OK', []],
      ['empty', '', []],
      ['white space', ' \n', []],
      ['cut off', CUT_OFF, []],
      ['two JSON values', '{"success":true}{"success":true}', []],
      ['null', 'null', []],
      ['an array', '[{"success":true}]', []],
      ['a string', '"success"', []],
      ['a number', '1', []],
      ['no envelope', '{}', ['success']],
      ['data without success', '{"data":{}}', ['success']],
      ['success as a string', '{"success":"true","data":{}}', ['success']],
      ['success as a number', '{"success":1,"data":{}}', ['success']],
    ] as const
  ).map(
    ([what, body, path]): Row => ({
      ...UNEXPECTED,
      name: `200, ${what}`,
      body,
      fields: { status: 200, issues: [{ path, message: expect.stringMatching(/^expected /) }] },
    }),
  ),
  { ...UNEXPECTED, name: '204 without a body', status: 204, fields: { status: 204 } },
]

const notModified: Row = {
  ...UNEXPECTED,
  name: '304 to a request without a condition',
  status: 304,
  fields: { status: 304, issues: [{ path: [], message: expect.stringMatching(/^(?!.*redirect).*not modified/) }] },
}

const redirects: Row[] = [300, 301, 302, 303, 307, 308].map((status) => ({
  ...UNEXPECTED,
  name: `${status} to another host`,
  status,
  // Looks like a successful response.
  body: json({ success: true, data: {} }),
  headers: { location: 'https://elsewhere.example/api/v1/user' },
  fields: { status, issues: [{ path: [], message: expect.stringContaining('redirects are not followed') }] },
}))

const httpErrors: Row[] = byStatus.flatMap(([status, kind]): Row[] => [
  ...[true, false].map((success) => ({
    ...kind,
    name: `${status}, standard envelope with success ${success}`,
    status,
    body: json({ success, error: { code: status, message: 'no luck' } }),
    fields: { status, serviceCode: status, message: expect.stringContaining('no luck') },
    absent: ['reason'],
  })),
  {
    ...kind,
    name: `${status}, standard envelope with another code`,
    status,
    body: json({ success: true, error: { code: 777, message: 'no luck' } }),
    fields: { status, serviceCode: 777 },
  },
  ...(
    [
      ['HTML', HTML],
      ['empty', ''],
      ['cut off', CUT_OFF],
      ['an array', '[]'],
      ['the envelope of a success', json({ success: true, data: {} })],
    ] as const
  ).map(([what, body]) => ({
    ...kind,
    name: `${status}, ${what}`,
    status,
    body,
    fields: { status, message: expect.stringContaining(`HTTP ${status}`) },
    absent: ['serviceCode', 'reason'],
  })),
])

const rows = [
  ...errorObjects,
  ...errorObjectsWithoutCode,
  ...errorsOfOtherForms,
  ...errorStrings,
  ...refusalsWithoutError,
  ...notUnderstood,
  notModified,
  ...redirects,
  ...httpErrors,
]

/** Tests the contract's table of responses. */
export function testResponses({ respond, client, received, tabled = operations }: Setup): void {
  describe.each(tabled.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
    const { data, result, writes, run } = operation

    it.each([200, 201, 202, 203])('returns the data of a %i', async (status) => {
      respond(name, { status, body: json({ success: true, data }) })
      expect(await run(client())).toEqual(result)
      expect(received()).toBe(1)
    })

    it.each([null, '', 0, false, []])('ignores an empty error beside the data: %j', async (error) => {
      respond(name, { body: json({ success: true, data, error }) })
      expect(await run(client())).toEqual(result)
    })

    it('accepts JSON with any content type', async () => {
      respond(name, { body: json({ success: true, data }), headers: { 'content-type': 'text/html' } })
      expect(await run(client())).toEqual(result)
    })

    it('accepts JSON after a byte order mark', async () => {
      respond(name, { body: `\uFEFF${json({ success: true, data })}` })
      expect(await run(client())).toEqual(result)
    })

    it.each(rows.map((row) => [row.name, row] as const))(
      '%s',
      async (_, { name: __, type, code, outcome, fields = {}, absent = [], ...given }) => {
        respond(name, given)
        const error = await rejection(run(client()))
        expect(Object.getPrototypeOf(error)).toBe(type.prototype)
        expect(error).toMatchObject({ code, operation: name, ...fields })
        expect((error as Error).message).toMatch(new RegExp(`^${name}: `))
        for (const field of absent) expect(error).not.toHaveProperty(field)
        if (writes) expect(error).toHaveProperty('outcome', outcome)
        else expect(error).not.toHaveProperty('outcome')
        expect(received()).toBe(1)
      },
    )
  })

  describe('unexpected data', () => {
    const path = (...steps: (string | number)[]) => ({
      path: ['data', ...steps],
      message: expect.stringMatching(/^expected /),
    })
    const user = contract.getUserProgress.response.data
    const task = { id: 't1', name: 'Follow', xp: 10, xp_mul: 1, meta: {}, status: 'none' }
    const definition = { ...task, type: 'social', recurrence: 'once', ref_xp: '5', deps: [], is_optional: false }
    const campaign = { id: 'demo', name: 'Demo' }
    const points = { ...campaign, total_points: 9, season_points: 4, season_index: 0 }
    const totals = { user_id: 'alice', xp: 5, ref_xp: 0, ugc_xp: 0, refs: 0, ref_count: 0 }

    const without = (from: object, field: string) =>
      Object.fromEntries(Object.entries(from).filter(([key]) => key !== field))

    it.each<[string, OperationName, unknown, ReturnType<typeof path>[]]>([
      ['no data', 'getUserProgress', undefined, [path()]],
      ['null', 'getUserProgress', null, [path()]],
      ['an array', 'getUserProgress', [user], [path()]],
      ['a string', 'getCampaignInfo', 'demo', [path()]],
      ...[...Object.keys(user)].map((field): [string, OperationName, unknown, ReturnType<typeof path>[]] => [
        `no ${field}`,
        'getUserProgress',
        without(user, field),
        [path(field)],
      ]),
      ['a total in a string', 'getUserProgress', { ...user, total: '5' }, [path('total')]],
      ['a team of null', 'getUserProgress', { ...user, team: null }, [path('team')]],
      ['tasks of null', 'getUserProgress', { ...user, actions: null }, [path('actions')]],
      ['a task of null', 'getUserProgress', { ...user, actions: [task, null] }, [path('actions', 1)]],
      ...[5, null, undefined, {}].map((status): [string, OperationName, unknown, ReturnType<typeof path>[]] => [
        `a status that is ${typeof status === 'object' ? json(status) : status}`,
        'getUserProgress',
        { ...user, challenges: [{ ...task, status }] },
        [path('challenges', 0, 'status')],
      ]),
      ...['x', 5, [], true].map((meta): [string, OperationName, unknown, ReturnType<typeof path>[]] => [
        `a meta of ${json(meta)}`,
        'getUserProgress',
        { ...user, actions: [{ ...task, meta }] },
        [path('actions', 0, 'meta')],
      ]),
      [
        'several wrong fields',
        'getUserProgress',
        { ...user, rank: 'first', quests: [{ ...task, actions: ['t1', 2] }], rewards: [{ id: 'r' }] },
        [path('quests', 0, 'actions', 1), path('rewards', 0, 'reward'), path('rewards', 0, 'type'), path('rank')],
      ],
      ...['', ' 5', '5 XP', '0x10', 'NaN', 'Infinity', '1e999', '1,5', null, true, undefined].map(
        (xp_mul): [string, OperationName, unknown, ReturnType<typeof path>[]] => [
          `a multiplier of ${json(xp_mul)}`,
          'getCampaignInfo',
          { ...campaign, actions: [definition, { ...definition, xp_mul }], quests: [] },
          [path('actions', 1, 'xp_mul')],
        ],
      ),
      ['no quests', 'getCampaignInfo', { ...campaign, actions: [] }, [path('quests')]],
      ['no season', 'getCampaignPoints', points, [path('season')]],
      ['a season without end', 'getCampaignPoints', { ...points, season: { name: 's' } }, [path('season', 'max_xp')]],
      ['profiles as accounts', 'getUserProfiles', { ...totals, profiles: ['alice'] }, [path('profiles', 0)]],
      ['no profiles', 'getUserProfiles', totals, [path('profiles')]],
      ['used_by as a string', 'getInviteCode', { used_by: 'alice' }, [path('used_by')]],
      ['used_by of numbers', 'getInviteCode', { used_by: ['alice', 5] }, [path('used_by', 1)]],
      ['no data', 'setReferrer', undefined, [path()]],
      ['null', 'updateUser', null, [path()]],
      ['an array', 'setReferrerByRefId', [], [path()]],
    ])('is refused: %s for %s', async (_, name, data, issues) => {
      respond(name, { body: json({ success: true, data }) })
      const error = await rejection(operation(name).run(client()))
      expect(error).toBeInstanceOf(UnexpectedResponseError)
      expect(error).toMatchObject({ status: 200, issues })
      expect((error as UnexpectedResponseError).issues).toHaveLength(issues.length)
      for (const issue of issues) expect((error as Error).message).toContain(issue.path.join('.'))
    })

    it.each([
      ['<h1>hi</h1>', 'the body: expected JSON, received text/html'],
      ['[]', 'the body: expected an object with success and data'],
      ['{}', 'success: expected true or false'],
      ['{"success":true,"data":{"used_by":[1]}}', 'data.used_by.0: expected string, received number'],
    ])('causes a message with the path and the expected value: %s', async (body, what) => {
      respond('getInviteCode', { body, headers: { 'content-type': 'text/html; charset=utf-8' } })
      expect((await rejection(client().getInviteCode({ code: 'c', pid: 'd' }))).message).toBe(
        `getInviteCode: unexpected response with HTTP 200 (${what})`,
      )
    })

    it('does not appear in the error', async () => {
      respond('getUserProgress', { body: json({ success: true, data: { ...user, total: 'ada@example.org' } }) })
      const error = await rejection(client().getUserProgress({ account: 'a', platform: 'p', pid: 'd' }))
      expect((error as Error).message + json(error)).not.toContain('ada@example.org')
    })

    it('has its first five issues in the message, which counts the others', async () => {
      respond('getInviteCode', { body: json({ success: true, data: { used_by: [1, 2, 3, 4, 5, 6, 7] } }) })
      const error = await rejection(client().getInviteCode({ code: 'c', pid: 'd' }))
      expect(error.message).toMatch(/data\.used_by\.4: expected string, received number; and 2 more\)$/)
      expect((error as UnexpectedResponseError).issues).toHaveLength(7)
    })

    const withoutData = operations.filter(({ response }) => !('data' in response))
    it.each(withoutData)('is accepted by $name, which returns no data', async ({ name, run }) => {
      for (const data of [undefined, null, 5, { xp: 5 }]) {
        respond(name, { body: json({ success: true, data }) })
        expect(await run(client())).toBeUndefined()
      }
    })

    it.each([undefined, null, 5, 'registered', { hook_id: 'h' }])(
      'is returned unchanged by registerWebhook: %j',
      async (data) => {
        respond('registerWebhook', { body: json({ success: true, data }) })
        expect(await client().registerWebhook({ scope: 's', url: 'https://partner.example' })).toEqual(data)
      },
    )
  })

  describe('details of the response in an error', () => {
    const read = () => rejection(client().getCampaignInfo({ pid: 'demo' }))
    const envelope = (message: string) => json({ success: true, error: { code: 400, message } })

    it('include only the headers of the allow-list', async () => {
      respond('getCampaignInfo', {
        status: 400,
        headers: {
          'content-type': 'application/json',
          'x-request-id': 'r-1',
          'retry-after': '7',
          'set-cookie': 'session=1',
          'www-authenticate': 'Bearer realm="x"',
          authorization: 'Basic eDp5',
          'x-internal': 'y',
        },
      })
      expect(await read()).toMatchObject({
        headers: { 'content-type': 'application/json', 'x-request-id': 'r-1', 'retry-after': '7' },
        retryAfterMs: 7000,
      })
      const { headers } = (await read()) as ApiError
      expect(Object.keys(headers).sort()).toEqual(['content-type', 'retry-after', 'x-request-id'])
    })

    it('include the request IDs of proxies', async () => {
      const headers = {
        date: 'Sun, 06 Nov 1994 08:49:37 GMT',
        server: 'gateway',
        'x-correlation-id': 'c-1',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        'cf-ray': '230b030023ae2822-SJC',
        'x-refusal-reason': 'no_route',
      }
      respond('getCampaignInfo', { status: 400, headers })
      expect(((await read()) as ApiError).headers).toMatchObject(headers)
    })

    it.each<[string, unknown, string]>([
      ['an empty object', {}, 'HTTP 400'],
      ['a message', { message: 'no luck' }, 'HTTP 400, no luck'],
      ['the status as its code', { code: 400, message: 'no luck' }, 'HTTP 400, no luck'],
      ['another code', { code: 777, message: 'no luck' }, 'HTTP 400, service code 777, no luck'],
      ['a string', 'no luck', 'HTTP 400, no luck'],
      ['a list of errors', [{ message: 'no luck' }, { message: 'nor this' }], 'HTTP 400, no luck'],
    ])('include the message of the service for %s', async (_, error, words) => {
      respond('getCampaignInfo', { status: 400, body: json({ success: false, error }) })
      expect((await read()).message).toBe(`getCampaignInfo: the service responded with ${words}`)
    })

    it('have no retryAfterMs without Retry-After', async () => {
      respond('getCampaignInfo', { status: 400, headers: { 'retry-after': 'soon' } })
      expect(await read()).not.toHaveProperty('retryAfterMs')
    })

    it.each<[string, unknown]>([
      ['a code as a string', { code: '500' }],
      ['a code with a fraction', { code: 503.5 }],
      ['a code in a list', [{ code: 500 }]],
      ['a code in the second error of a list', [{ code: 403 }, { code: '408' }]],
    ])('have the outcome unknown for a write if the code of a server error has another form: %s', async (_, error) => {
      respond('recordActionValue', { body: json({ success: false, error }) })
      const record = operation('recordActionValue')
      expect(await rejection(record.run(client()))).toMatchObject({ code: 'api_error', outcome: 'unknown' })
    })

    it.each<[string, unknown]>([
      ['a client error code', { code: '403' }],
      ['a code just below 500', { code: '499.9' }],
      ['a code above 599', { code: '600' }],
      ['a code that is not a number', { code: 'E500' }],
      ['a string as the error', '500'],
      ['a code in another field', { status: 500 }],
      ['a client error code in a list', [{ code: 400 }, null, 500]],
      ['a list as the code', { code: [500] }],
    ])('have the outcome not_applied for `success: false` with %s', async (_, error) => {
      respond('recordActionValue', { body: json({ success: false, error }) })
      const record = operation('recordActionValue')
      expect(await rejection(record.run(client()))).toMatchObject({ code: 'api_error', outcome: 'not_applied' })
    })

    it('have a message that does not end inside a surrogate pair', async () => {
      for (const message of [`${'x'.repeat(299)}${'😀'.repeat(9)}`, `${'x'.repeat(298)}${'😀'.repeat(9)}`]) {
        respond('getCampaignInfo', { status: 400, body: envelope(message) })
        expect(encodeURIComponent(((await read()) as Error).message)).toContain('xxx')
        const fetch = () => Promise.reject(new Error(message))
        const error = await rejection(clientWith({ fetch, maxRetries: 0 }).getCampaignInfo({ pid: 'demo' }))
        expect(encodeURIComponent((error as Error).message)).toContain('xxx')
      }
    })

    it('have a message shorter than 500 characters', async () => {
      respond('getCampaignInfo', { status: 400, body: envelope('long '.repeat(10_000)) })
      expect(((await read()) as Error).message.length).toBeLessThan(500)
    })

    it.each([{ code: 400, message: 5 }, { code: 400, message: {} }, { code: 400 }])(
      'have the code, and no message of the service, from %j',
      async (error) => {
        respond('getCampaignInfo', { status: 400, body: json({ success: false, error }) })
        const refused = await read()
        expect(refused).toHaveProperty('serviceCode', 400)
        expect(refused.message).toBe('getCampaignInfo: the service responded with HTTP 400')
      },
    )

    it('mention that a refused token had expired', async () => {
      const part = (value: object) => Buffer.from(json(value)).toString('base64url')
      const jwt = (exp: number) => `${part({ alg: 'none' })}.${part({ exp })}.c2ln`
      respond('getCampaignInfo', { status: 401 })
      const refusalOf = (accessToken: string) =>
        rejection(client({ accessToken }).getCampaignInfo({ pid: 'demo' })) as Promise<Error>
      expect((await refusalOf(jwt(1_600_000_000))).message).toMatch(
        /the token had expired at 2020-09-13T12:26:40\.000Z$/,
      )
      expect((await refusalOf(jwt(1e300))).message).not.toContain('expired')
      expect((await refusalOf('opaque')).message).not.toContain('expired')
    })
  })
}
