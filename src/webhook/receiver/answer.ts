/** What is sent back, before an adapter puts it into the form its runtime wants. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** How a delivery that needs no other attempt ended. */
export type AcceptedResult = 'handled' | 'discarded' | 'duplicate'

/**
 * Why a request was not answered with 200:
 *
 * | reason | status | |
 * |---|---|---|
 * | `method_not_allowed` | 405 | not a POST |
 * | `too_large` | 413 | the body is longer than `maxBodyBytes` |
 * | `body_timeout` | 408 | the body had not arrived by `deadlineMs` |
 * | `body_aborted` | 400 | the sender hung up before the end of the body |
 * | `body_not_raw` | 500 | something in front of the receiver parsed or consumed the body |
 * | `missing_signature`, `malformed_signature`, `signature_mismatch` | 401 | |
 * | `invalid_utf8`, `invalid_json`, `missing_id` | 400 | the signature is right, the message is not |
 * | `secret_unavailable` | 503 | the source of the secret failed, or gave nothing usable in time |
 * | `store_unavailable` | 503 | the delivery could not be claimed |
 * | `busy` | 503 | another attempt is being handled, or the handler stopped because its signal had fired |
 * | `past_deadline` | 503 | the handler goes on; the attempt after it finds the delivery done |
 * | `closing` | 503 | `close()` was called |
 * | `handler_failed` | 500 | the handler threw, and the claim was released |
 * | `internal_error` | 500 | a fault of this package |
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
  secret_unavailable: 503,
  store_unavailable: 503,
  busy: 503,
  past_deadline: 503,
  closing: 503,
  handler_failed: 500,
  internal_error: 500,
} as const

/** One text per status, never per reason: a forger learns nothing from it. */
const PUBLIC_ERROR: Readonly<Record<(typeof STATUS)[WebhookRejectionReason], string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'payload_too_large',
  500: 'internal_error',
  503: 'unavailable',
}

/** The first retry of the service comes after 5 seconds; nothing sooner is worth asking for. */
const DEFAULT_RETRY_AFTER_SECONDS = 5

const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }

/** What answers a message that needs no other attempt, by what became of it. Made once: it is the answer to nearly all. */
export const ACCEPTED: Readonly<Record<AcceptedResult, Answer>> = {
  handled: { status: 200, headers: HEADERS, body: '{"ok":true,"result":"handled"}' },
  discarded: { status: 200, headers: HEADERS, body: '{"ok":true,"result":"discarded"}' },
  duplicate: { status: 200, headers: HEADERS, body: '{"ok":true,"result":"duplicate"}' },
}

/** @param retryMs - for status 503: when another attempt may fare better */
export function refusal(reason: WebhookRejectionReason, retryMs?: number): Answer {
  const status = STATUS[reason]
  const headers: Record<string, string> = { ...HEADERS }
  if (status === 405) headers.allow = 'POST'
  if (status === 503) headers['retry-after'] = String(retryAfterSeconds(retryMs))
  return { status, headers, body: JSON.stringify({ ok: false, error: PUBLIC_ERROR[status] }) }
}

function retryAfterSeconds(retryMs = Number.NaN): number {
  if (!Number.isFinite(retryMs)) return DEFAULT_RETRY_AFTER_SECONDS
  return Math.max(1, Math.ceil(retryMs / 1000))
}
