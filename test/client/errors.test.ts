import * as campaign from 'campaign-client'
import * as webhook from 'campaign-client/webhook'
import { describe, expect, it, vi } from 'vitest'
import { scriptedFetch } from '../call/scripted-fetch.ts'
import { unreadableValues } from '../support/unreadable-values.ts'
import { rejection } from './stub-service.ts'

const {
  AccessDeniedError,
  AccessTokenError,
  ApiError,
  BadRequestError,
  CampaignError,
  ConfigurationError,
  InvalidRequestError,
  NetworkError,
  RateLimitError,
  ReferralRejectedError,
  ServiceError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedResponseError,
} = campaign

const call = { operation: 'rewardWallet', outcome: 'unknown' } as const
const response = { ...call, status: 400, headers: { date: 'd' }, serviceCode: 400, reason: 'r', retryAfterMs: 5 }
const issues = [{ path: ['pid'], message: 'must not be empty' }]

/** An error of every class, and the fields that `JSON.stringify` prints besides name, message, operation and outcome. */
const classes = {
  ApiError: [new ApiError('m', response), { code: 'api_error', ...response }],
  BadRequestError: [new BadRequestError('m', response), { code: 'bad_request', ...response }],
  UnauthorizedError: [new UnauthorizedError('m', response), { code: 'unauthorized', ...response }],
  AccessDeniedError: [new AccessDeniedError('m', response), { code: 'access_denied', ...response }],
  RateLimitError: [new RateLimitError('m', response), { code: 'rate_limited', ...response }],
  ServiceError: [new ServiceError('m', response), { code: 'service_error', ...response }],
  ReferralRejectedError: [new ReferralRejectedError('m', response), { code: 'referral_rejected', ...response }],
  NetworkError: [
    new NetworkError('m', { ...call, systemCode: 'ECONNRESET' }),
    { code: 'network', ...call, systemCode: 'ECONNRESET' },
  ],
  TimeoutError: [
    new TimeoutError('m', { ...call, scope: 'total', timeoutMs: 5 }),
    { code: 'timeout', ...call, scope: 'total', timeoutMs: 5 },
  ],
  UnexpectedResponseError: [
    new UnexpectedResponseError('m', { ...call, status: 200, issues }),
    { code: 'unexpected_response', ...call, status: 200, issues },
  ],
  InvalidRequestError: [
    new InvalidRequestError('m', { ...call, issues }),
    { code: 'invalid_request', ...call, issues },
  ],
  AccessTokenError: [new AccessTokenError('m', call), { code: 'access_token', ...call }],
  ConfigurationError: [new ConfigurationError('m', { ...call, issues }), { code: 'configuration', ...call, issues }],
} as const satisfies Record<string, readonly [campaign.CampaignError, Record<string, unknown>]>

const API_ERRORS = [
  'ApiError',
  'BadRequestError',
  'UnauthorizedError',
  'AccessDeniedError',
  'RateLimitError',
  'ServiceError',
  'ReferralRejectedError',
]

type Kind = keyof typeof classes | 'CampaignError'
const byName = { ...campaign }
const kinds = ['CampaignError', ...Object.keys(classes)] as Kind[]
type Construct = new (message: string, init: object) => campaign.CampaignError

it('the table of error classes is complete', () => {
  // test/webhook has the tests of WebhookError.
  expect(webhook.CampaignError).toBe(CampaignError)
  const exported = Object.keys(campaign).filter(
    // TransportError is not a CampaignError.
    (name) =>
      /^[A-Z]\w*Error$/.test(name) &&
      name !== 'TransportError' &&
      (name === 'ConfigurationError' || !(name in webhook)),
  )
  expect(['CampaignError', ...exported].sort()).toEqual(kinds.toSorted())
})

describe.each(Object.entries(classes))('%s', (name, [error, fields]) => {
  it('has its name, message and fields', () => {
    expect(error.name).toBe(name)
    expect(error.message).toBe('m')
    expect({ ...error }).toEqual(fields)
    expect(error.stack).toMatch(new RegExp(`^${name}: m\\n`))
    expect(Object.prototype.toString.call(error)).toBe('[object Error]')
  })

  it('is an instance of its own class and its superclasses only', () => {
    const is = Object.keys(classes).filter((other) => error instanceof byName[other as Kind])
    expect(is.sort()).toEqual([...new Set([name, ...(API_ERRORS.includes(name) ? ['ApiError'] : [])])].sort())
    expect(error).toBeInstanceOf(CampaignError)
    expect(error).toBeInstanceOf(Error)
  })

  it('prints its name, message and fields as JSON, without stack and cause', () => {
    const Class = error.constructor as Construct
    const caused = new Class('m', { ...fields, cause: new Error('why') })
    expect(JSON.parse(JSON.stringify(caused))).toEqual({ name, message: error.message, ...fields })
    expect(caused.cause).toEqual(new Error('why'))
  })

  it('has no field for an undefined detail', () => {
    const Class = error.constructor as Construct
    const withoutDetails = new Class('m', {
      operation: undefined,
      outcome: undefined,
      serviceCode: undefined,
      cause: undefined,
    })
    for (const field of ['operation', 'outcome', 'cause', 'serviceCode', 'reason', 'retryAfterMs', 'systemCode']) {
      expect(Object.hasOwn(withoutDetails, field)).toBe(false)
    }
  })
})

describe('isCampaignError', () => {
  it.each(Object.entries(classes))('is true for %s', (_, [error]) => {
    expect(campaign.isCampaignError(error)).toBe(true)
  })

  it('is false for other values, unknown codes, and a known code on another class', () => {
    const others = [
      undefined,
      'network',
      new Error('e'),
      { code: 'network' },
      new CampaignError('m', { code: 'of_a_later_version' }),
      new CampaignError('m', { code: 'toString' }),
      new CampaignError('m', { code: 'rate_limited' }),
    ]
    for (const other of others) expect(campaign.isCampaignError(other)).toBe(false)
  })
})

describe('instanceof', () => {
  const loadCopy = async (): Promise<typeof campaign> => {
    vi.resetModules()
    return import('campaign-client')
  }

  it('works across two loaded copies of the package, for every class', async () => {
    const copy = await loadCopy()
    expect(copy.CampaignError).not.toBe(CampaignError)
    for (const [name, [error]] of Object.entries(classes) as [Kind, readonly [campaign.CampaignError, unknown]][]) {
      const copied = new (copy[name] as unknown as Construct)('m', { ...error })
      for (const kind of kinds) {
        expect(error instanceof copy[kind], `this ${name} is a ${kind} of the copy`).toBe(error instanceof byName[kind])
        expect(copied instanceof byName[kind], `a ${name} of the copy is this ${kind}`).toBe(
          copied instanceof copy[kind],
        )
      }
      expect(copied instanceof byName[name]).toBe(true)
    }
  })

  it('works for an error thrown by a client of another copy', async () => {
    const copy = await loadCopy()
    const { fetch } = scriptedFetch(() => new Response('', { status: 403 }))
    const client = new copy.CampaignClient({ baseUrl: 'https://service.example', accessToken: 't', fetch })
    const error = await rejection(client.getCampaignInfo({ pid: 'demo' }))
    expect(client).toBeInstanceOf(campaign.CampaignClient)
    expect(error).toBeInstanceOf(AccessDeniedError)
    expect(error).toBeInstanceOf(ApiError)
    expect(error).not.toBeInstanceOf(UnauthorizedError)
  })

  it('is true for a subclass only if the error was created by it', () => {
    class Mine extends ApiError {}
    class Yours extends ApiError {}
    const mine = new Mine('m', response)
    expect(mine).toBeInstanceOf(Mine)
    expect(mine).toBeInstanceOf(ApiError)
    expect(mine).toBeInstanceOf(CampaignError)
    expect(mine).not.toBeInstanceOf(Yours)
    expect(mine).not.toBeInstanceOf(ServiceError)
    expect(classes.ApiError[0]).not.toBeInstanceOf(Mine)
  })

  it.each([
    undefined,
    null,
    5,
    'ApiError',
    Symbol('s'),
    () => 1,
    {},
    [],
    new Error('e'),
    { name: 'ApiError', code: 'api_error' },
  ])('is false for %o', (value) => {
    expect((value as unknown) instanceof CampaignError).toBe(false)
    expect((value as unknown) instanceof ApiError).toBe(false)
  })

  it.each(unreadableValues)('is false for $name', ({ create }) => {
    const value = create()
    expect(value instanceof CampaignError).toBe(false)
    expect(value instanceof ApiError).toBe(false)
    expect(value instanceof campaign.TransportError).toBe(false)
  })
})
