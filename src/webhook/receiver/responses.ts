/** A response, independent of the framework. */
export interface WebhookResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Why the response to a request was not 200:
 *
 * | reason | status | |
 * |---|---|---|
 * | `method_not_allowed` | 405 | not a POST |
 * | `too_large` | 413 | the body is longer than `maxBodyBytes` |
 * | `body_timeout` | 408 | the body had not arrived by `deadlineMs` |
 * | `body_aborted` | 400 | the sender disconnected before the end of the body |
 * | `body_not_raw` | 500 | the body was parsed or consumed before the receiver |
 * | `missing_signature`, `malformed_signature`, `signature_mismatch` | 401 | |
 * | `invalid_utf8`, `invalid_json`, `missing_id` | 400 | the signature is valid, the message is not |
 * | `unexpected_shape` | 500 | a documented message lacks a required field, and `unexpectedShape` is `'retry'` |
 * | `secret_unavailable` | 503 | the `secret` function failed, or returned no usable secret in time |
 * | `store_unavailable` | 503 | the delivery could not be claimed |
 * | `busy` | 503 | another attempt is being handled, or the handler stopped because its signal had fired |
 * | `past_deadline` | 503 | the handler is still running; a later attempt finds the delivery done |
 * | `closing` | 503 | `close()` was called |
 * | `handler_failed` | 500 | the handler threw, and the claim was released |
 * | `internal_error` | 500 | a bug in this package |
 */
export type WebhookRejectionReason = keyof typeof STATUS

const STATUS = {
  method_not_allowed: 405,
  too_large: 413,
  body_timeout: 408,
  body_aborted: 400,
  body_not_raw: 500,
  missing_signature: 401,
  malformed_signature: 401,
  signature_mismatch: 401,
  invalid_utf8: 400,
  invalid_json: 400,
  missing_id: 400,
  unexpected_shape: 500,
  secret_unavailable: 503,
  store_unavailable: 503,
  busy: 503,
  past_deadline: 503,
  closing: 503,
  handler_failed: 500,
  internal_error: 500,
} as const

/** One text per status: an attacker does not learn the reason. */
const PUBLIC_ERROR: Readonly<Record<(typeof STATUS)[WebhookRejectionReason], string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'payload_too_large',
  500: 'internal_error',
  503: 'unavailable',
}

/** The first retry of the service comes after 5 seconds. */
const DEFAULT_RETRY_AFTER_SECONDS = 5

const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

/** Returns a response after which the service does not retry. */
export const accepted = (result: 'handled' | 'discarded' | 'duplicate'): WebhookResponse => ({
  status: 200,
  headers: HEADERS,
  body: JSON.stringify({ ok: true, result }),
})

/**
 * Returns the response to a rejected request.
 *
 * @param retryMs - when another attempt may succeed, in milliseconds
 */
export function rejected(reason: WebhookRejectionReason, retryMs?: number): WebhookResponse {
  const status = STATUS[reason]
  const headers: Record<string, string> = { ...HEADERS }
  if (status === 405) headers.allow = 'POST'
  if (status === 503) {
    const isKnown = retryMs !== undefined && Number.isFinite(retryMs)
    headers['retry-after'] = String(isKnown ? Math.max(1, Math.ceil(retryMs / 1000)) : DEFAULT_RETRY_AFTER_SECONDS)
  }
  return { status, headers, body: JSON.stringify({ ok: false, error: PUBLIC_ERROR[status] }) }
}
