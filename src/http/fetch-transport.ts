import ky from 'ky'
import type { FetchLike, FetchLikeInit } from '../options.ts'
import { typeName } from '../shared/type-name.ts'
import { missingGlobals, networkErrorResponse, notAnAnswer } from './failure.ts'
import { property } from './property.ts'
import {
  isRedirect,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts'

type PlatformFetch = typeof globalThis.fetch

/**
 * The platform's own, as it was before anybody could put another in its place. Only its errors prove that a request
 * never left: a wrapper may fail on something else (a metrics call, a cache) after the service has answered.
 */
const platformFetch: PlatformFetch | undefined = globalThis.fetch

// Retries, limits and status codes are decided by the pipeline, which knows the operation.
const sender = ky.create({ retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' })

/** Sends requests through ky: with the global `fetch` at the time of the call, or with the partner's own. */
export const fetchTransport = (own: FetchLike | undefined): Transport => ({
  send: (request, signal) => send(own ?? globalThis.fetch, request, signal),
})

async function send(fetch: FetchLike, request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
  const needed = { fetch, ...pick(globalThis) }
  const missing = Object.entries(needed).filter(([, value]) => typeof value !== 'function')
  if (missing.length > 0) throw missingGlobals(missing.map(([name]) => name))
  const { method, url, headers } = request
  const body = request.body === undefined ? undefined : once(request.body)
  // Its own copy: what a partner's fetch adds to the headers is not sent again.
  const init: FetchLikeInit = { method, headers: { ...headers }, signal, redirect: 'manual', ...(body && { body }) }
  const isPlatforms = fetch === platformFetch
  let called = false
  const fetchOnce = async (prepared: Request): Promise<Response> => {
    called = true
    let response: unknown
    try {
      // Mocks, proxies and the fetch of other packages expect an address in a string, and know no Request of ours.
      response = await (isPlatforms ? (fetch as PlatformFetch)(prepared) : fetch(url, init))
    } catch (error) {
      throw lost(error, isPlatforms)
    }
    if (!isResponse(response)) throw notAnAnswer('the fetch option, or the global fetch,', typeName(response))
    if (response.type === 'error') throw networkErrorResponse()
    return response
  }
  try {
    const response = await sender(url, { ...init, fetch: fetchOnce as PlatformFetch })
    const answer = await read(response, request.maxResponseBytes)
    if (signal.aborted && !answer.complete) throw signal.reason
    return answer
  } catch (error) {
    if (signal.aborted) throw signal.reason
    // Before `fetch` is called, all that can fail is the making of a Request.
    if (!called)
      throw new TransportError('the request could not be made', { kind: 'network', sent: false, cause: error })
    throw error
  }
}

/** What ky takes from the platform besides `fetch`. */
const pick = ({ Request, Response, Headers }: typeof globalThis): object => ({ Request, Response, Headers })

/**
 * Deno's `fetch` sends a body of text a second time when the connection is lost before an answer, and says nothing:
 * a write would count twice. A Blob it sends once (2.9.5).
 */
const once = (body: string): string => ('Deno' in globalThis ? (new Blob([body]) as unknown as string) : body)

/** By what is needed of it: the responses of polyfills and of other packages are not instances of the platform's. */
function isResponse(value: unknown): value is Response {
  const { status, text, headers } = (value ?? {}) as Partial<Response>
  return Number.isInteger(status) && typeof text === 'function' && typeof headers?.get === 'function'
}

async function read(response: Response, maxBytes: number): Promise<TransportResponse> {
  const { status, headers } = response
  const header = (name: string): string | null => headers.get(name)
  if (isRedirect(status)) {
    // The bodies of other packages' responses may be streams of Node's, which have no such method.
    void response.body?.cancel?.().catch(() => undefined)
    return { status, header, text: '', complete: true }
  }
  try {
    return { status, header, text: await readText(response, maxBytes), complete: true }
  } catch (error) {
    const cause = lost(error, false)
    // The status of an error answer says enough, however much of its body there is.
    if (status < 400 && cause.kind === 'too_large') throw cause
    return { status, header, text: '', complete: false, cause }
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const { body, status } = response
  const tooLarge = (): TransportError =>
    new TransportError(`the answer is larger than ${maxBytes} bytes`, { kind: 'too_large', sent: true, status })
  if (typeof body?.getReader !== 'function') {
    const text = await response.text()
    // A body that cannot be read piece by piece: at least what comes of it is within the limit.
    if (text.length > maxBytes || new TextEncoder().encode(text).byteLength > maxBytes) throw tooLarge()
    return text
  }
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > maxBytes) {
      void reader.cancel().catch(() => undefined)
      throw tooLarge()
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Codes raised before connecting: the request cannot have arrived. */
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

function lost(thrown: unknown, isPlatforms: boolean): TransportError {
  if (thrown instanceof TransportError) return thrown
  const sent = !(isPlatforms && neverLeft(thrown))
  return new TransportError('', { kind: 'network', sent, systemCode: systemCodeOf(thrown), cause: thrown })
}

/** Runtimes put the error of the connection into what their `fetch` throws, or throw it bare; never any deeper. */
function neverLeft(thrown: unknown): boolean {
  const errors = isObject(thrown) ? [thrown, property(thrown, 'cause')] : []
  return errors.filter(isObject).some((error) => BEFORE_CONNECTION.has(property(error, 'code')) || wasConnecting(error))
}

/** Node tries each address of a host, and throws an `AggregateError` when none could be reached. */
function wasConnecting(error: object): boolean {
  const ofEach = property(error, 'errors')
  const errors: unknown[] = Array.isArray(ofEach) && ofEach.length > 0 ? ofEach : [error]
  return errors.every((each) => isObject(each) && CONNECTING.has(property(each, 'syscall')))
}

/** The code stands somewhere down the chain of causes, where depends on the runtime. */
function systemCodeOf(thrown: unknown): string | undefined {
  let code: unknown
  let error: unknown = thrown
  for (let depth = 0; depth <= DEEPEST_CAUSE && isObject(error); depth++) {
    const found = property(error, 'code')
    if (typeof found === 'string') code = found
    error = property(error, 'cause')
  }
  return code as string | undefined
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
