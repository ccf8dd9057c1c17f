import {
  AccessDeniedError,
  ApiError,
  BadRequestError,
  type CampaignClient,
  type CampaignError,
  InvalidRequestError,
  type OperationName,
  RateLimitError,
  ReferralRejectedError,
  ServiceError,
  UnauthorizedError,
  UnexpectedResponseError,
} from 'campaign-client'
import { describe, expect, it, vi } from 'vitest'
import { addressOf, clientWith, json, rejection, type StubResponse } from '../client/stub-service.ts'
import { contract, invoke, operation, operations } from '../contract/operations.ts'

let fetchStub: ReturnType<typeof vi.fn<typeof fetch>>

/** Sets the response of one operation. Requests of other operations fail. */
function respond(name: OperationName, { status = 200, body = null, headers = {} }: StubResponse): void {
  fetchStub = vi.fn(async (url) => {
    if (!String(url).startsWith(addressOf(name))) throw new Error(`${url} is not the URL of ${name}`)
    return new Response(body, { status, headers })
  })
}
const client = () => clientWith({ fetch: fetchStub })

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

describe.each(operations.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  const { data, result, writes, run } = operation

  it.each([200, 201, 202, 203])('returns the data of a %i', async (status) => {
    respond(name, { status, body: json({ success: true, data }) })
    expect(await run(client())).toEqual(result)
    expect(fetchStub).toHaveBeenCalledOnce()
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
      expect(fetchStub).toHaveBeenCalledOnce()
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

  it.each([{ code: 400, message: 5 }, { code: 400, message: {} }, { code: 400 }])(
    'have the code, and no message of the service, from %j',
    async (error) => {
      respond('getCampaignInfo', { status: 400, body: json({ success: false, error }) })
      const refused = await read()
      expect(refused).toHaveProperty('serviceCode', 400)
      expect(refused.message).toBe('getCampaignInfo: the service responded with HTTP 400')
    },
  )
})

describe("responses that only a partner's fetch or transport returns", () => {
  it.each([100, 103, 199])('reports %i as a status without a final response', async (status) => {
    const fetch = (async () => ({ status, headers: new Headers(), text: async () => '' })) as never
    const error = (await rejection(clientWith({ fetch }).getCampaignInfo({ pid: 'demo' }))) as Error
    expect(error).toMatchObject({ code: 'unexpected_response', status })
    expect(error.message).toMatch(/^(?!.*redirect).*a 1xx status/)
  })

  const clientReturning = (given: object) => {
    const send = async () => ({ status: 200, header: () => null, text: '', complete: true, ...given })
    return clientWith({ transport: { send } })
  }

  it.each(['', '\uFEFF'])('removes a byte order mark before the JSON only: %j', async (mark) => {
    const text = `${mark}{"success":true,"data":{"used_by":["\uFEFFada"]}}`
    expect(await clientReturning({ text }).getInviteCode({ code: 'c', pid: 'd' })).toEqual({ used_by: ['\uFEFFada'] })
  })

  it.each([600, 777])('%i is an ApiError, not a ServiceError', async (status) => {
    expect(await rejection(clientReturning({ status }).getCampaignInfo({ pid: 'demo' }))).toMatchObject({
      code: 'api_error',
      status,
    })
  })

  it.each([
    [0, 'status 0 means'],
    [101, 'a 1xx status'],
    [302, 'redirects are not followed'],
    [304, 'conditional request'],
  ])('explains an unexpected status %i, even if the body is incomplete', async (status, why) => {
    expect(
      await rejection(clientReturning({ status, complete: false }).getCampaignInfo({ pid: 'demo' })),
    ).toMatchObject({
      code: 'unexpected_response',
      status,
      message: expect.stringContaining(why),
    })
  })

  it('ignores headers that are not strings', async () => {
    const error = await rejection(clientReturning({ status: 400, header: () => 7 }).getCampaignInfo({ pid: 'demo' }))
    expect(error).toMatchObject({ code: 'bad_request', headers: {} })
    expect(error).not.toHaveProperty('retryAfterMs')
  })

  it.each([
    ['that cannot be read', () => Object.assign({} as never).missing.value],
    ['that is not a string', () => ['text/html']],
    ['that contains the token', () => 'text/opaque-token-1234567890'],
  ])('does not name a content type %s', async (_, header) => {
    const send = async () => ({ status: 200, header: header as never, text: '<html>', complete: true })
    const client = clientWith({ transport: { send }, accessToken: 'opaque-token-1234567890' })
    const error = await rejection(client.updateUser({ account: 'a', platform: 'p', pid: 'd' }))
    expect(error).toMatchObject({
      code: 'unexpected_response',
      outcome: 'unknown',
      issues: [{ path: [], message: 'expected JSON' }],
    })
    expect((error as Error).message).not.toContain('text/')
  })

  it('shortens long headers', async () => {
    const transport = {
      send: async () => ({ status: 400, header: () => 'long '.repeat(100_000), text: '', complete: true }),
    }
    const error = await rejection(clientWith({ transport }).getCampaignInfo({ pid: 'demo' }))
    expect(JSON.stringify(error).length).toBeLessThan(20_000)
  })
})

describe('many issues', () => {
  const HUGE = 50_000
  const invite = { code: 'c', pid: 'd' }
  const used_by = Array.from({ length: HUGE }, (_, index) => index)
  const huge = () => ({ fetch: async () => Response.json({ success: true, data: { used_by } }) })

  it('of a response are limited to 20 in the error, which counts the others', async () => {
    const error = await rejection(clientWith(huge()).getInviteCode(invite))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect(error).toMatchObject({ moreIssues: HUGE - 20 })
    expect(error.message).toMatch(/; and 49995 more\)$/)
    expect((error as UnexpectedResponseError).issues).toHaveLength(20)
    expect(JSON.stringify(error).length).toBeLessThan(4_000)
  })

  it('of a response are limited to 20 for onInvalidResponse, and the call returns the data', async () => {
    const onInvalidResponse = vi.fn()
    const client = clientWith({ ...huge(), responseValidation: 'report', hooks: { onInvalidResponse } })
    expect((await client.getInviteCode(invite)).used_by).toHaveLength(HUGE)
    expect(onInvalidResponse).toHaveBeenCalledOnce()
    const [event] = onInvalidResponse.mock.calls[0] as [{ issues: unknown[]; moreIssues: number }]
    expect(event).toMatchObject({ operation: 'getInviteCode', status: 200, moreIssues: HUGE - 20 })
    expect(event.issues).toHaveLength(20)
  })

  it('of a response are counted up to 100 000, so that they fit into memory', async () => {
    const text = `{"success":true,"data":{"id":"a","name":"b","quests":[],"actions":[${'{},'.repeat(300_000)}{}]}}`
    const fetch = async () => new Response(text, { headers: { 'content-type': 'application/json' } })
    const error = await rejection(clientWith({ fetch }).getCampaignInfo({ pid: 'demo' }))
    expect(error).toMatchObject({ code: 'unexpected_response', issues: { length: 20 } })
    expect((error as UnexpectedResponseError).moreIssues).toBeLessThan(100_010)
  })

  it('are searched in a response with very deep metadata', async () => {
    const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const text = `{"success":true,"data":{"id":"a","name":"b","quests":[],"actions":[{"metadata":${deep}}]}}`
    const fetch = async () => new Response(text, { headers: { 'content-type': 'application/json' } })
    expect(await rejection(clientWith({ fetch }).getCampaignInfo({ pid: 'demo' }))).toMatchObject({
      code: 'unexpected_response',
    })
  })

  it('of call options are limited to 20', async () => {
    const query = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`q${index}`, Number.NaN]))
    const error = await rejection(clientWith().getInviteCode(invite, { query }))
    expect(error).toBeInstanceOf(InvalidRequestError)
    expect((error as InvalidRequestError).issues).toHaveLength(20)
    expect(error).toHaveProperty('moreIssues', 980)
    expect(error.message).toMatch(/; and 980 more; nothing was sent$/)
  })
})

describe('a number out of range', () => {
  const definition = {
    id: 't',
    name: 't',
    type: 's',
    recurrence: 'o',
    xp: 1,
    xp_mul: '1',
    deps: [],
    is_optional: false,
  }
  it.each([
    ['"1e400"', 'expected a finite number, received one out of range'],
    ['"-1e400"', 'expected a finite number, received one out of range'],
    ['1e400', 'expected a finite number or string, received Infinity'],
    ['"1,5"', 'expected a number or a numeric string'],
    ['true', 'expected a finite number or string, received boolean'],
  ])('%s: %s', async (ref_xp, message) => {
    const task = JSON.stringify({ ...definition, ref_xp: 0 }).replace('"ref_xp":0', `"ref_xp":${ref_xp}`)
    const text = `{"success":true,"data":{"id":"d","name":"d","quests":[],"actions":[${task}]}}`
    const error = await rejection(
      clientWith({ fetch: async () => new Response(text) }).getCampaignInfo({ pid: 'demo' }),
    )
    expect((error as UnexpectedResponseError).issues).toEqual([{ path: ['data', 'actions', 0, 'ref_xp'], message }])
  })
})

describe('1e400 in place of a number', () => {
  /** Yields the path of each number in the data, except in metadata. */
  function* numberPaths(data: unknown, path: readonly (string | number)[] = []): Generator<(string | number)[]> {
    if (typeof data === 'number') yield [...path]
    if (typeof data !== 'object' || data === null) return
    for (const [name, value] of Object.entries(data)) {
      if (name !== 'meta') yield* numberPaths(value, [...path, Array.isArray(data) ? Number(name) : name])
    }
  }
  const cases = operations
    .filter(({ writes }) => !writes)
    .flatMap(({ name, request, data }) => [...numberPaths(data)].map((path) => ({ name, request, data, path })))

  it('is tested for several operations', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBeGreaterThan(1)
  })

  it.each(cases)('is refused: $name, $path', async ({ name, request, data, path }) => {
    const copy = structuredClone(data)
    const parent = path.slice(0, -1).reduce((at, step) => Reflect.get(at as object, step), copy as unknown)
    Reflect.set(parent as object, path.at(-1) as string, 'HERE')
    const text = JSON.stringify({ success: true, data: copy }).replace('"HERE"', '1e400')
    const error = await rejection(invoke(clientWith({ fetch: async () => new Response(text) }), name, request))
    expect(error).toBeInstanceOf(UnexpectedResponseError)
    expect((error as UnexpectedResponseError).issues).toMatchObject([{ path: ['data', ...path] }])
  })
})

describe('a forgotten /api/v1', () => {
  const page = () => new Response('<h1>Not found</h1>', { status: 404 })
  const HINT = /; baseUrl does not end with \/api\/v1/
  const errorOf = (client: CampaignClient) =>
    rejection(client.getInviteCode({ code: 'c', pid: 'd' })) as Promise<ApiError>
  const from = (baseUrl: string, ...responses: (() => Response)[]) =>
    clientWith({
      baseUrl,
      fetch: async () => (responses.length > 1 ? (responses.shift() ?? page) : (responses[0] ?? page))(),
    })

  it.each([
    'https://service.example',
    'https://service.example/',
    'https://service.example/api',
    'https://service.example/api/v2',
  ])('of %s is mentioned in each error', async (baseUrl) => {
    const client = from(baseUrl)
    for (let call = 0; call < 3; call++) {
      const error = await errorOf(client)
      expect(error).toMatchObject({ code: 'api_error', status: 404 })
      expect(error.message).toMatch(HINT)
    }
  })

  it.each(['https://service.example/api/v1', 'https://service.example/api/v1/', 'https://gateway.example/x/api/v1'])(
    'is not mentioned for %s',
    async (baseUrl) => {
      expect((await errorOf(from(baseUrl))).message).not.toMatch(/baseUrl/)
    },
  )

  it.each([
    ['of a gateway', { message: 'no route' }],
    ['with success', { success: false }],
    ['with an error of the service', { error: { code: 404, message: 'not found' } }],
  ])('is mentioned after a 404 %s in JSON', async (_, body) => {
    const client = from('https://service.example', () => Response.json(body, { status: 404 }))
    expect((await errorOf(client)).message).toMatch(HINT)
  })

  it('is not mentioned after another status', async () => {
    const client = from('https://service.example', () => Response.json({}, { status: 403 }))
    expect((await errorOf(client)).message).not.toMatch(HINT)
  })
})

describe('the message of a 403', () => {
  const errorOf403 = (body: string, type: string, status = 403) =>
    rejection(
      clientWith({
        fetch: async () => new Response(body, { status, headers: { 'content-type': type } }),
      }).getCampaignInfo({ pid: 'demo' }),
    )

  it.each([
    ['<html><h1>Forbidden</h1>', 'text/html; charset=utf-8', 403, true],
    ['', 'text/html', 403, true],
    [' <!DOCTYPE html><p>no', 'text/plain', 403, true],
    ['{"success":false,"error":{"code":403,"message":"<html>"}}', 'application/json', 403, false],
    ['Forbidden', 'text/plain', 403, false],
    ['<html>', 'text/html', 400, false],
  ])('names a gateway if the body is HTML: %j, %s, %d', async (body, type, status, isNamed) => {
    expect(((await errorOf403(body, type, status)) as Error).message.includes('probably a gateway')).toBe(isNamed)
  })
})
