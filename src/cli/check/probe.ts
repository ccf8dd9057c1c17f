import {
  attemptTimedOut,
  Failure,
  incompleteResponse,
  mayHaveBeenApplied,
  transportFailure,
} from '../../call/failure.ts'
import { excerpt, partsOf, queryOf, type Secrets } from '../../call/redact.ts'
import { decodeResponse, isDataIncomplete } from '../../call/response.ts'
import { TOO_MANY_REQUESTS } from '../../call/retry.ts'
import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { NetworkError, UnexpectedResponseError } from '../../errors/client-errors.ts'
import { tryParseJson } from '../../shared/text.ts'
import { cancellationOf } from '../../shared/timers.ts'
import { isRecord } from '../../shared/type-checks.ts'
import {
  isRedirect,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '../../transports/transport.ts'

/** Minimum interval between requests. */
const INTERVAL_MS = 200
const TIMEOUT_MS = 10_000
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024
/** Maximum length of a content type or a title in a message, in characters. */
const MAX_PART_LENGTH = 100
/** The title is searched in the first characters of a page. */
const MAX_HEAD_LENGTH = 65_536
const TOKEN_REFUSED = 'the service refused the token (HTTP 401)'

interface Attempt {
  /** Whether the service may have applied a write, by the rule of the client. */
  readonly mayBeApplied: boolean
}

/** A response that answers the question: data, or an error that a retry would not change. */
export interface Reply extends Attempt {
  readonly kind: 'data' | 'error' | 'other'
  /** `standard` is an error with a code and a message, `string` is an error with a string. */
  readonly form: 'data' | 'standard' | 'string' | 'other' | 'empty' | 'not JSON' | 'no envelope'
  readonly data?: unknown
  /** The code of an error. */
  readonly code?: number | string
  readonly status: number
  readonly durationMs: number
  /** In milliseconds since the epoch. */
  readonly receivedAt: number
  readonly header: (name: string) => string | null
}

/** Why a request has no usable response. */
interface NoReply extends Attempt {
  readonly kind: 'no reply'
  readonly reason: string
  /** The status, or the code of an error in a 2xx response. */
  readonly status: number | undefined
  /** The system error of a failed connection, such as `ECONNREFUSED`. */
  readonly systemCode?: string | undefined
}

export type Outcome = Reply | NoReply

export const isReply = (outcome: Outcome | undefined): outcome is Reply =>
  outcome !== undefined && outcome.kind !== 'no reply'

/** Returns the data of a 2xx reply, or `undefined`. */
export const dataOf = (outcome: Outcome | undefined): unknown => (isReply(outcome) ? outcome.data : undefined)

interface ProbeOptions {
  readonly transport: Pick<Transport, 'send'>
  readonly baseUrl: string
  readonly token: string
  /** Maximum number of requests. The last one is reserved for a read with another token. */
  readonly maxRequests: number
  readonly signal: AbortSignal
  readonly wait: (ms: number) => Promise<unknown>
  /** Called before each request. */
  readonly onRequest?: (count: number) => void
}

/** Sends raw requests, one after the other and without retries. Enforces the limits of a run. */
export class Probe {
  readonly options: ProbeOptions
  #sent = 0
  #lastSentAt = -Infinity
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
  get(operation: OperationName, query: Readonly<Record<string, string>>, otherToken?: string): Promise<Outcome> {
    return this.#send(operation, { url: `${this.#urlOf(operation)}?${new URLSearchParams(query)}` }, otherToken)
  }

  post(operation: OperationName, body: object): Promise<Outcome> {
    return this.#send(operation, { url: this.#urlOf(operation), body: JSON.stringify(body) })
  }

  #urlOf(operation: OperationName): string {
    return `${this.options.baseUrl}/${endpoints[operation].path}`
  }

  /** Waits, unless the probe has stopped. */
  async wait(ms: number): Promise<void> {
    if (this.#stopReason === undefined) await this.options.wait(ms)
  }

  async #send(
    operation: OperationName,
    request: Pick<TransportRequest, 'url' | 'body'>,
    otherToken?: string,
  ): Promise<Outcome> {
    const { transport, token, signal, onRequest, baseUrl, maxRequests } = this.options
    if (otherToken === undefined && this.#sent >= maxRequests - 1) {
      return notSent(`limit of ${maxRequests} requests`)
    }
    await this.wait(Math.max(0, this.#lastSentAt + INTERVAL_MS - performance.now()))
    if (signal.aborted) this.#stopReason = 'interrupted'
    if (this.#stopReason !== undefined) return notSent(this.#stopReason)
    this.#sent++
    onRequest?.(this.#sent)
    this.#lastSentAt = performance.now()
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const sentToken = otherToken ?? token
    const secrets = [...queryOf(request.url), ...partsOf(token), ...partsOf(sentToken)]
    const { method } = endpoints[operation]
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${sentToken}`,
      ...(request.body !== undefined && { 'content-type': 'application/json' }),
    }
    let response: TransportResponse
    try {
      response = await transport.send(
        { ...request, method, headers, idempotent: method === 'GET', maxResponseBytes: MAX_RESPONSE_BYTES },
        cancellationOf(AbortSignal.any([signal, timeout])),
      )
    } catch (error) {
      if (signal.aborted) this.#stopReason = 'interrupted'
      const failure = timeout.aborted
        ? attemptTimedOut(operation, TIMEOUT_MS)
        : transportFailure(operation, error, secrets)
      return this.#noReply(failure, reasonOf(failure))
    }
    const result = isDataIncomplete(response)
      ? incompleteResponse(operation, response.cause, secrets)
      : decodeResponse(endpoints[operation], response, {
          operation,
          baseUrl: `${baseUrl}/`,
          token: sentToken,
          secrets: () => secrets,
          // The questions judge the shape of the data.
          report: () => undefined,
        })
    return this.#outcomeOf(result, response, secrets, otherToken === undefined)
  }

  #outcomeOf(
    result: { readonly data: unknown } | Failure,
    response: TransportResponse,
    secrets: Secrets,
    isOwnToken: boolean,
  ): Outcome {
    const { status, header } = response
    const arrived = { status, header, durationMs: performance.now() - this.#lastSentAt, receivedAt: Date.now() }
    if (!(result instanceof Failure)) {
      this.#hasData = true
      return { ...arrived, kind: 'data', form: 'data', data: result.data, mayBeApplied: false }
    }
    if (result.status === TOO_MANY_REQUESTS) this.#stopReason = 'the service limited the rate (HTTP 429)'
    if (result.isTokenRefused && isOwnToken && !this.#hasData) this.#stopReason = TOKEN_REFUSED
    if (result.kind === 'no_response') return this.#noReply(result, 'the response is incomplete', status)
    const described = formOf(response.text)
    const mayBeApplied = mayHaveBeenApplied(result)
    const isTemporary = result.isTokenRefused || result.status === TOO_MANY_REQUESTS || result.status >= 500
    const hasNoJson = described.form === 'not JSON' || described.form === 'empty'
    if (isTemporary || result.status === 408 || isRedirect(status) || (status < 400 && hasNoJson)) {
      const reason = hasNoJson ? describePage(response, secrets) : `HTTP ${status}`
      // `result.status` is the code of an error in a 2xx response, and 0 without an error.
      return this.#noReply(result, reason, result.status || status)
    }
    // The client could not read an envelope, or it read an error.
    const kind = result.error instanceof UnexpectedResponseError ? 'other' : 'error'
    return { ...arrived, ...described, kind, mayBeApplied }
  }

  #noReply(failure: Failure, reason: string, status?: number): NoReply {
    const { systemCode } = failure.error instanceof NetworkError ? failure.error : {}
    const mayBeApplied = mayHaveBeenApplied(failure)
    return { kind: 'no reply', reason: this.#stopReason ?? reason, status, systemCode, mayBeApplied }
  }
}

const notSent = (reason: string): NoReply => ({ kind: 'no reply', reason, status: undefined, mayBeApplied: false })

function reasonOf({ error }: Failure): string {
  if (error instanceof UnexpectedResponseError) return `a response of more than ${MAX_RESPONSE_BYTES / 1024 / 1024} MiB`
  if (error instanceof NetworkError) return error.systemCode ?? 'no response'
  return `no response within ${TIMEOUT_MS / 1_000} s`
}

/** Describes a response without JSON, such as a sign-in page: its status, content type and title, without secrets. */
function describePage({ status, header, text }: TransportResponse, secrets: Secrets): string {
  const [type = ''] = (header('content-type') ?? '').split(';')
  const title = titleOf(text.slice(0, MAX_HEAD_LENGTH))
  return [`HTTP ${status}`, type.trim(), title && `page ${JSON.stringify(title)}`]
    .filter((part) => part)
    .map((part) => excerpt(String(part), secrets, MAX_PART_LENGTH))
    .join(', ')
}

/** Returns the title of an HTML page, if it is complete. */
function titleOf(html: string): string | undefined {
  const start = html.search(/<title/i)
  const from = start < 0 ? -1 : html.indexOf('>', start)
  const to = from < 0 ? -1 : html.indexOf('<', from)
  return to < 0
    ? undefined
    : html
        .slice(from + 1, to)
        .replaceAll(/\s+/g, ' ')
        .trim()
}

/** Classifies a body without data. */
function formOf(text: string): Pick<Reply, 'form' | 'code'> {
  const body = tryParseJson(text.replace(/^\uFEFF/, ''))
  if (body === undefined) return { form: text.trim() === '' ? 'empty' : 'not JSON' }
  if (!isRecord(body)) return { form: 'no envelope' }
  const { success, error } = body
  if (isRecord(error) && Number.isInteger(error.code) && typeof error.message === 'string') {
    return { form: 'standard', code: Number(error.code) }
  }
  if (typeof error === 'string' && error !== '') {
    // Do not record other strings: they may contain personal data.
    const isKnown = error === 'missing_user' || error === 'self_referral_not_allowed'
    return { form: 'string', ...(isKnown && { code: error }) }
  }
  return { form: (error ?? '') !== '' || success === false ? 'other' : 'no envelope' }
}
