import * as campaign from 'campaign-client'
import { describe, expect, test } from 'vitest'
import { failureOf, outcomeOf } from '../../src/bulk/attempt.ts'
import { unreadableValues } from '../support/unreadable-values.ts'

const response = (status: number, outcome: campaign.WriteOutcome, serviceCode?: number) => ({
  status,
  outcome,
  serviceCode,
  headers: {},
})
const timeoutOptions = { scope: 'total', timeoutMs: 5 } as const
const unexpectedResponse = new campaign.UnexpectedResponseError('odd', { status: 302, issues: [], outcome: 'unknown' })

describe('the outcome of a call that failed with', () => {
  test.each<[string, unknown, kind: string, maybeApplied: boolean]>([
    ['an unknown error', new Error('bug'), 'fatal', true],
    ['an invalid row', new campaign.InvalidRequestError('wrong', { issues: [] }), 'invalid', false],
    ['no token', new campaign.AccessTokenError('none'), 'fatal', false],
    ['no token after a lost response', new campaign.AccessTokenError('none', { outcome: 'unknown' }), 'fatal', true],
    ['an invalid option', new campaign.ConfigurationError('wrong'), 'fatal', false],
    ['401', new campaign.UnauthorizedError('no', response(401, 'not_applied')), 'fatal', false],
    ['401 after a lost response', new campaign.UnauthorizedError('no', response(401, 'unknown')), 'fatal', true],
    ['403', new campaign.AccessDeniedError('no', response(403, 'not_applied')), 'campaign_refused', false],
    ['404', new campaign.ApiError('no', response(404, 'not_applied')), 'campaign_refused', false],
    ['404 after a lost response', new campaign.ApiError('no', response(404, 'unknown')), 'campaign_refused', true],
    ['200 with code 404', new campaign.ApiError('no', response(200, 'not_applied', 404)), 'campaign_refused', false],
    ['429', new campaign.RateLimitError('wait', response(429, 'not_applied')), 'rate_limited', false],
    ['400', new campaign.BadRequestError('no', response(400, 'not_applied')), 'refused', false],
    ['400 after a lost response', new campaign.BadRequestError('no', response(400, 'unknown')), 'refused', true],
    ['499', new campaign.ApiError('no', response(499, 'unknown')), 'refused', true],
    ['400 with code 500', new campaign.ApiError('no', response(400, 'unknown', 500)), 'refused', true],
    ['200 with code 400', new campaign.ApiError('no', response(200, 'unknown', 400)), 'refused', true],
    ['200 with code 500', new campaign.ApiError('no', response(200, 'unknown', 500)), 'failed', true],
    ['200 with an error without code', new campaign.ApiError('no', response(200, 'unknown')), 'failed', true],
    ['200 that was not applied', new campaign.ApiError('no', response(200, 'not_applied')), 'refused', false],
    ['408', new campaign.ApiError('late', response(408, 'unknown')), 'failed', true],
    ['500', new campaign.ServiceError('no', response(500, 'unknown')), 'failed', true],
    ['an unexpected response', unexpectedResponse, 'failed', true],
    ['a refused connection', new campaign.NetworkError('lost', { outcome: 'not_applied' }), 'unreachable', false],
    ['a lost connection', new campaign.NetworkError('lost', { outcome: 'unknown' }), 'unreachable', true],
    ['a timeout', new campaign.TimeoutError('late', { ...timeoutOptions, outcome: 'unknown' }), 'unreachable', true],
  ])('%s', (_, error, kind, maybeApplied) => {
    expect(outcomeOf(error)).toEqual({ kind, error, maybeApplied })
  })
})

describe('the recorded failure', () => {
  test('has the code, the HTTP status and at most 500 characters of the message', () => {
    const error = new campaign.BadRequestError('x'.repeat(600), response(400, 'not_applied'))
    expect(failureOf(error)).toEqual({ code: 'bad_request', status: 400, message: 'x'.repeat(500) })
    expect(failureOf(new campaign.NetworkError('lost', {}))).toEqual({
      code: 'network',
      message: expect.stringContaining('lost'),
    })
  })

  test.each([
    ['an error', new TypeError('token-secret'), 'TypeError'],
    ['another value', 'token-secret', 'string'],
  ])('has no message of %s that is not from this package', (_, thrown, name) => {
    expect(failureOf(thrown)).toEqual({ code: 'unexpected', message: `the client threw ${name}` })
  })

  test.each(unreadableValues)('names the type of $name', ({ create }) => {
    const message = expect.stringMatching(/^the client threw (?:Error|object|revoked proxy)$/)
    expect(failureOf(create())).toEqual({ code: 'unexpected', message })
  })
})
