import ky from 'ky'
import type { FetchLike } from '../options.ts'
import { ByteChunks, concatBytes } from '../shared/byte-chunks.ts'
import { callHook } from '../shared/call-hook.ts'
import { typeName } from '../shared/types.ts'
import {
  isRedirect,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../transport.ts'
import { missingGlobals, networkErrorResponse, notAnAnswer } from './failure.ts'
import { property } from './property.ts'

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
  const missing = missingFrom(fetch, globalThis)
  if (missing.length > 0) throw missingGlobals(missing)
  const { method, url, headers } = request
  const body = request.body === undefined ? {} : { body: once(request.body) }
  const isPlatforms = fetch === platformFetch
  let called = false
  const fetchOnce = async (prepared: Request): Promise<Response> => {
    called = true
    let response: unknown
    try {
      // Mocks, proxies and the fetch of other packages expect an address in a string, and know no Request of ours. The
      // headers are a copy: what a partner's fetch adds to them is not sent again.
      response = await (isPlatforms
        ? (fetch as PlatformFetch)(prepared, { headers, signal })
        : fetch(url, { method, headers: { ...headers }, signal, redirect: 'manual', ...body }))
    } catch (error) {
      throw lost(error, isPlatforms)
    }
    if (!isResponse(response)) throw notAnAnswer(FETCH, typeName(response))
    if (response.type === 'error') throw networkErrorResponse()
    if (signal.aborted) {
      // Nobody waits any more for what comes of a fetch that ignores its signal.
      discard(response.body)
      throw signal.reason
    }
    return response
  }
  try {
    // Headers and signal go to `fetch` past ky, which would copy the ones four times and follow the other.
    const response = await sender(url, { method, ...body, fetch: fetchOnce as PlatformFetch })
    const answer = await read(response, request.maxResponseBytes, isPlatforms ? undefined : signal)
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

const FETCH = 'the fetch option, or the global fetch,'

const NEEDED = ['Request', 'Response', 'Headers'] as const

/** The names of what ky needs of the platform, and what is not there. */
function missingFrom(fetch: unknown, platform: typeof globalThis): string[] {
  const missing = NEEDED.filter((name) => typeof platform[name] !== 'function')
  return typeof fetch === 'function' ? missing : ['fetch', ...missing]
}

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

/** @param unheeded - ends the reading of a body that may not heed the signal its request was given */
async function read(
  response: Response,
  maxBytes: number,
  unheeded: AbortSignal | undefined,
): Promise<TransportResponse> {
  const { status, headers } = response
  const header = (name: string): string | null => headers.get(name)
  if (isRedirect(status)) {
    discard(response.body)
    return { status, header, text: '', complete: true }
  }
  let text: unknown
  try {
    text = await readText(response, maxBytes, unheeded)
  } catch (error) {
    const cause = lost(error, false)
    // The status of an error answer says enough, however much of its body there is.
    if (status < 400 && property(cause, 'kind') === 'too_large') throw cause
    return { status, header, text: '', complete: false, cause }
  }
  if (typeof text !== 'string') throw notAnAnswer(FETCH, `one whose text is of type ${typeName(text)}`)
  return { status, header, text, complete: true }
}

/** Lets go of a body that nobody will read. One of another package may be a stream of Node's. */
function discard(body: unknown): void {
  const { cancel, destroy } = (body ?? {}) as { cancel?: unknown; destroy?: unknown }
  const end = typeof cancel === 'function' ? cancel : destroy
  if (typeof end === 'function') callHook(() => end.call(body))
}

/** @returns what the answer gives as its text: a partner's may give anything */
async function readText(response: Response, maxBytes: number, unheeded: AbortSignal | undefined): Promise<unknown> {
  const { body, status } = response
  const tooLarge = (): TransportError =>
    new TransportError(`the answer is larger than ${maxBytes} bytes`, { kind: 'too_large', sent: true, status })
  if (typeof body?.getReader !== 'function') {
    const text: unknown = await response.text()
    // A body that cannot be read piece by piece: at least what comes of it is within the limit.
    if (typeof text === 'string' && (text.length > maxBytes || utf8Length(text) > maxBytes)) throw tooLarge()
    return text
  }
  const reader = body.getReader()
  const letGo = (): void => callHook(() => reader.cancel())
  unheeded?.addEventListener('abort', letGo)
  const pieces = new ByteChunks(concatBytes)
  let length = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      length += value.byteLength
      if (length > maxBytes) {
        letGo()
        throw tooLarge()
      }
      pieces.add(value)
    }
  } finally {
    unheeded?.removeEventListener('abort', letGo)
  }
  // All of it at once: chunk by chunk, the decoder of Node takes another way, half as slow again.
  return new TextDecoder().decode(pieces.concat())
}

const utf8Length = (text: string): number => new TextEncoder().encode(text).byteLength

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
