import ky, { type KyInstance } from 'ky'
import { NetworkError } from '../errors.ts'
import { typeName } from '../shared/type-name.ts'
import { Failure } from './failure.ts'
import { property, redact, safeCause } from './redact.ts'

/** One HTTP request, ready to be sent. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** One HTTP answer, read to its end. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  /** The body, decoded as UTF-8. Empty for a redirect, and for an error answer that broke off. */
  readonly text: string
}

/** Raised before a connection stood, so that the request cannot have been read by anyone. */
const BEFORE_CONNECTION: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_NONAME',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])
const CONNECTING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo'])
const DEEPEST_CAUSE = 5

/** Sends requests through ky. The only file that knows it. */
export class Transport {
  readonly #fetch: typeof globalThis.fetch | undefined
  readonly #ky: KyInstance

  constructor(fetch: typeof globalThis.fetch | undefined) {
    this.#fetch = fetch
    // Repeats, limits and status codes are decided by the pipeline, which knows the operation.
    this.#ky = ky.create({ retry: 0, timeout: false, throwHttpErrors: false })
  }

  /**
   * Sends one request and reads the answer to its end.
   *
   * @throws Failure when there is no whole answer. Whatever `fetch` threw is its cause, without the request.
   */
  async send(request: HttpRequest, signal: AbortSignal, secrets: readonly string[]): Promise<HttpAnswer> {
    const { method, url, headers, body } = request
    const init: RequestInit = { method, headers, signal, redirect: 'manual' }
    if (body !== undefined) init.body = once(body)
    // ky sees neither token nor body: its errors hold the request it made, and copying ours would cost it twice.
    let failure: Failure | undefined
    const send = async (): Promise<Response> => {
      try {
        const response = await (this.#fetch ?? globalThis.fetch)(url, init)
        if (isResponse(response)) return response
        failure = notAResponse(typeName(response))
      } catch (error) {
        failure = networkFailure(error, secrets)
      }
      throw failure
    }
    try {
      const response = await this.#ky(url, { method, fetch: send })
      return { status: response.status, headers: response.headers, text: await readBody(response) }
    } catch (error) {
      throw failure ?? networkFailure(error, secrets)
    }
  }
}

/**
 * Deno's `fetch` sends a body of text a second time when the connection is lost before an answer, and says nothing:
 * a write would count twice. A Blob it sends once (2.9.5).
 */
const once = (body: string): BodyInit => ('Deno' in globalThis ? new Blob([body]) : body)

/** By what is needed of it: the responses of polyfills and of other packages are not instances of the platform's. */
const isResponse = (value: Partial<Response> | null | undefined): boolean =>
  typeof value?.status === 'number' && typeof value.text === 'function' && typeof value.headers?.get === 'function'

/** It may have sent the request all the same, and would do no better the next time. */
const notAResponse = (type: string): Failure =>
  new Failure('not_understood', (context) => {
    const message = `${context.operation}: the fetch option, or the global fetch, returned no Response but ${type}`
    return new NetworkError(message, context)
  })

async function readBody(response: Response): Promise<string> {
  if (response.status < 200 || (response.status >= 300 && response.status < 400)) {
    // The bodies of other packages' responses may be streams of Node's, which have no such method.
    void response.body?.cancel?.().catch(() => undefined)
    return ''
  }
  try {
    return await response.text()
  } catch (error) {
    // The status of an error answer says enough; of a success the lost part is what was asked for.
    if (response.status >= 400) return ''
    throw error
  }
}

function networkFailure(thrown: unknown, secrets: readonly string[]): Failure {
  const { systemCode, connecting } = readCodes(thrown, secrets)
  const notSent = connecting || BEFORE_CONNECTION.has(systemCode)
  const cause = safeCause(thrown, secrets)
  const what = notSent ? 'the service could not be reached' : 'the connection failed before a whole answer arrived'
  const detail = [systemCode, cause?.message].filter(Boolean).join(', ')
  return new Failure(notSent ? 'not_sent' : 'no_answer', ({ operation, outcome }) => {
    const message = `${operation}: ${what}${detail && ` (${detail})`}`
    return new NetworkError(message, { operation, outcome, cause, systemCode })
  })
}

/** The system's code stands somewhere down the chain of causes, where depends on the runtime. */
function readCodes(
  thrown: unknown,
  secrets: readonly string[],
): { systemCode?: string | undefined; connecting: boolean } {
  let systemCode: string | undefined
  let connecting = false
  let error: unknown = thrown
  for (let depth = 0; depth <= DEEPEST_CAUSE && typeof error === 'object' && error !== null; depth++) {
    const code = property(error, 'code')
    if (typeof code === 'string' && /^\w{1,64}$/.test(code)) systemCode = redact(code, secrets)
    connecting ||= wasConnecting(error)
    error = property(error, 'cause')
  }
  return { systemCode, connecting }
}

/** Node tries each address of a host, and throws an `AggregateError` when none could be reached. */
function wasConnecting(error: object): boolean {
  const ofEach = property(error, 'errors')
  const errors: unknown[] = Array.isArray(ofEach) && ofEach.length > 0 ? ofEach : [error]
  return errors.every((each) => CONNECTING.has(property(each as object, 'syscall')))
}
