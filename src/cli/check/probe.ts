import type { Transport, TransportRequest, TransportResponse } from 'campaign-client'
import { cancellationOf } from '../../shared/abort.ts'
import { parseJson } from '../../shared/text.ts'
import { isRecord } from '../../shared/type-checks.ts'

/** Maximum number of requests in a run. */
export const MAX_REQUESTS = 60
/** Minimum interval between requests. */
const INTERVAL_MS = 200
const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024
/** Maximum length of a content type or a title in a message, in characters. */
const MAX_PART_LENGTH = 100
const TOKEN_REFUSED = 'the service refused the token (HTTP 401)'

/** A classified response body. */
interface Body {
  readonly kind: 'data' | 'error' | 'other'
  /** `standard` is an error with a code and a message, `string` is an error with a string. */
  readonly form: 'data' | 'standard' | 'string' | 'other' | 'empty' | 'not JSON' | 'no envelope'
  readonly data?: unknown
  /** The code of an error. */
  readonly code?: number | string
}

/** A response that answers the question: 2xx with JSON, or 4xx except 401, 408 and 429. */
export interface Reply extends Body {
  readonly status: number
  readonly durationMs: number
  /** In milliseconds since the epoch. */
  readonly receivedAt: number
  readonly header: (name: string) => string | null
}

/** Why a request has no usable response. */
interface NoReply {
  readonly kind: 'no reply'
  readonly reason: string
  /** `false` if the request was certainly not sent. */
  readonly sent: boolean
  readonly status: number | undefined
  /** The system error of a failed connection, such as `ECONNREFUSED`. */
  readonly systemCode?: string | undefined
}

export type Outcome = Reply | NoReply

export const isReply = (outcome: Outcome | undefined): outcome is Reply =>
  outcome !== undefined && outcome.kind !== 'no reply'

/** Returns the data of a 2xx reply, or `undefined`. */
export const dataOf = (outcome: Outcome | undefined): unknown =>
  isReply(outcome) && outcome.status < 300 ? outcome.data : undefined

interface ProbeOptions {
  readonly transport: Pick<Transport, 'send'>
  readonly baseUrl: string
  readonly token: string
  readonly signal: AbortSignal
  readonly wait: (ms: number) => Promise<unknown>
  /** Called before each request. */
  readonly onRequest?: (count: number) => void
}

/** Sends raw requests, one after the other and without retries. Enforces the limits of a run. */
export class Probe {
  readonly options: ProbeOptions
  #sent = 0
  #lastSentAt = Number.NEGATIVE_INFINITY
  /** Why no more requests are sent. */
  #stopReason: string | undefined
  #hasData = false

  constructor(options: ProbeOptions) {
    this.options = options
  }

  /** Whether the service refused the token before any read returned data. */
  get isTokenRefused(): boolean {
    return this.#stopReason === TOKEN_REFUSED
  }

  /** Sends a read. The last request within the limit is reserved for a read with `otherToken`. */
  get(path: string, query: Readonly<Record<string, string>>, otherToken?: string): Promise<Outcome> {
    const url = `${this.options.baseUrl}/${path}?${new URLSearchParams(query)}`
    return this.#send({ method: 'GET', url }, otherToken)
  }

  post(path: string, body: object): Promise<Outcome> {
    return this.#send({ method: 'POST', url: `${this.options.baseUrl}/${path}`, body: JSON.stringify(body) })
  }

  /** Waits, unless the probe has stopped. */
  async wait(ms: number): Promise<void> {
    if (this.#stopReason === undefined) await this.options.wait(ms)
  }

  async #send(request: Pick<TransportRequest, 'method' | 'url' | 'body'>, otherToken?: string): Promise<Outcome> {
    const { transport, token, signal, onRequest } = this.options
    if (otherToken === undefined && this.#sent >= MAX_REQUESTS - 1) {
      return noReply(`limit of ${MAX_REQUESTS} requests`, false)
    }
    await this.wait(Math.max(0, this.#lastSentAt + INTERVAL_MS - performance.now()))
    if (signal.aborted) this.#stopReason = 'interrupted'
    if (this.#stopReason !== undefined) return noReply(this.#stopReason, false)
    this.#sent++
    onRequest?.(this.#sent)
    this.#lastSentAt = performance.now()
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const sentToken = otherToken ?? token
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${sentToken}`,
      ...(request.body !== undefined && { 'content-type': 'application/json' }),
    }
    let response: TransportResponse
    try {
      response = await transport.send(
        { ...request, headers, idempotent: request.method === 'GET', maxResponseBytes: MAX_RESPONSE_BYTES },
        cancellationOf(AbortSignal.any([signal, timeout])),
      )
    } catch (error) {
      if (signal.aborted) this.#stopReason = 'interrupted'
      const reason = timeout.aborted ? `no response within ${TIMEOUT_MS / 1_000} s` : networkReason(error)
      const isSent = (error as { sent?: unknown } | null)?.sent !== false
      return { ...noReply(this.#stopReason ?? reason, isSent), systemCode: systemCodeOf(error) }
    }
    const { status, header, text, complete } = response
    if (status === 429) this.#stopReason = 'the service limited the rate (HTTP 429)'
    if (status === 401 && otherToken === undefined && !this.#hasData) this.#stopReason = TOKEN_REFUSED
    const body = bodyOf(text)
    const isJson = body.form !== 'not JSON' && body.form !== 'empty'
    const isUnusable = status < 200 || (status < 400 && !isJson) || (status >= 300 && status < 400)
    if (isUnusable || [401, 408, 429].includes(status) || status >= 500) {
      const reason = isJson ? `HTTP ${status}` : describePage(response, sentToken)
      return noReply(this.#stopReason ?? reason, true, status)
    }
    if (!complete) return noReply('the response is incomplete', true, status)
    this.#hasData ||= status < 300 && body.kind === 'data'
    return { ...body, status, header, durationMs: performance.now() - this.#lastSentAt, receivedAt: Date.now() }
  }
}

/**
 * Describes a response that is not JSON, such as a sign-in page: its status, content type and title.
 *
 * @param token - removed: a page for debugging may show the headers of the request
 */
function describePage({ status, header, text }: TransportResponse, token: string): string {
  const redacted = (part: string): string => part.replaceAll(token, '[redacted]')
  const type = redacted(header('content-type') ?? '')
    .split(';')[0]
    ?.trim()
  const title = /<title[^>]*>([^<]*)/i.exec(redacted(text))?.[1]?.replaceAll(/\s+/g, ' ').trim()
  return [`HTTP ${status}`, type, title && `page ${JSON.stringify(title)}`]
    .filter((part) => part)
    .map((part) => String(part).slice(0, MAX_PART_LENGTH))
    .join(', ')
}

const noReply = (reason: string, sent: boolean, status?: number): NoReply => ({
  kind: 'no reply',
  reason,
  sent,
  status,
})

function networkReason(error: unknown): string {
  const { kind } = (error ?? {}) as { kind?: unknown }
  if (kind === 'too_large') return `a response of more than ${MAX_RESPONSE_BYTES / 1024 / 1024} MiB`
  return systemCodeOf(error) ?? 'no response'
}

function systemCodeOf(error: unknown): string | undefined {
  const { systemCode } = (error ?? {}) as { systemCode?: unknown }
  return typeof systemCode === 'string' && /^[A-Z0-9_]{1,60}$/.test(systemCode) ? systemCode : undefined
}

function bodyOf(text: string): Body {
  let body: unknown
  try {
    body = parseJson(text)
  } catch {
    return { kind: 'other', form: text.trim() === '' ? 'empty' : 'not JSON' }
  }
  if (!isRecord(body)) return { kind: 'other', form: 'no envelope' }
  const { success, error, data } = body
  if (isRecord(error) && Number.isInteger(error.code) && typeof error.message === 'string') {
    return { kind: 'error', form: 'standard', code: Number(error.code) }
  }
  if (typeof error === 'string' && error !== '') {
    // Do not record other strings: they may contain personal data.
    const isKnown = error === 'missing_user' || error === 'self_referral_not_allowed'
    return { kind: 'error', form: 'string', ...(isKnown && { code: error }) }
  }
  if ((error ?? '') !== '' || success === false) return { kind: 'error', form: 'other' }
  return success === true ? { kind: 'data', form: 'data', data } : { kind: 'other', form: 'no envelope' }
}
