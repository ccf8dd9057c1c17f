import ky, { type KyInstance } from 'ky'
import { ByteChunks } from '../shared/byte-chunks.ts'
import { callSafely } from '../shared/call-safely.ts'
import { typeName } from '../shared/type-checks.ts'
import {
  type Cancellation,
  isRedirect,
  NotAResponseError,
  systemCodeOf,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts'

/** The second argument of a {@link FetchLike}. */
export interface FetchLikeInit {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST'
  /** Keyed by lower-case name. Contains `authorization`: never log it. */
  readonly headers: Record<string, string>
  /**
   * JSON. Absent for a GET. On Deno it is a `Blob`, despite its type: Deno's `fetch` may send a text body twice. Every
   * `fetch` accepts a `Blob`.
   */
  readonly body?: string
  /** Aborts when the attempt times out or the call is aborted. The reason is always an `Error`. */
  readonly signal: AbortSignal
  /** The client handles redirects itself. */
  readonly redirect: 'manual'
  /**
   * Keeps frameworks from returning a cached response. Absent if the `Request` of the platform has no `cache`. Because of it,
   * the `fetch` of Node and Workers sends `cache-control: no-cache` and `pragma: no-cache`.
   */
  readonly cache?: 'no-store'
}

/** The members of a `Response` that the client reads. */
export interface FetchLikeResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers of the response. */
  readonly headers: { get(name: string): string | null }
  /** Returns the body. Not called if `body` is a readable stream, as in a `Response`: the client reads the stream. */
  text(): Promise<string>
}

/**
 * A function like `fetch`: the global `fetch`, a wrapper around it, or the `fetch` of a package such as undici. The client
 * passes the URL as a string.
 *
 * After a rejection, the client assumes that the request may have been sent. If the request was certainly not sent, reject
 * with a `TransportError` that has `sent: false`.
 */
export type FetchLike = (url: string, init: FetchLikeInit) => Promise<FetchLikeResponse>

/** Sends requests by the caller's `fetch`, or through ky by the global `fetch` at the time of the call. */
export const fetchTransport = (customFetch: FetchLike | undefined): Transport => ({
  send: (request, cancellation) =>
    customFetch === undefined
      ? send(globalThis.fetch, throughKy, request, cancellation)
      : send(customFetch, directly, request, cancellation),
})

type Sender = (request: TransportRequest, fetchOnce: () => Promise<Response>) => Promise<Response>

/** ky requires the classes of the platform. The caller's `fetch` may run without them, or return a `Response` of another realm. */
const directly: Sender = (_request, fetchOnce) => fetchOnce()

let sender: KyInstance | undefined

const throughKy: Sender = ({ url, method }, fetchOnce) => {
  // Created at the first call, because the build loads ky at its first use (tsup.config.ts). Retries, timeouts and error statuses
  // depend on the operation: the callers of the transport handle them.
  sender ??= ky.create({ retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' })
  return sender(url, { method, fetch: fetchOnce })
}

async function send(
  fetch: FetchLike,
  sendOnce: Sender,
  request: TransportRequest,
  cancellation: Cancellation,
): Promise<TransportResponse> {
  const { method, url, headers } = request
  const { signal } = cancellation
  let called = false
  const fetchOnce = async (): Promise<Response> => {
    const body = request.body === undefined ? {} : { body: sentOnce(request.body) }
    // Mocks, proxies and the fetch of other packages expect the URL as a string. The headers are a copy, so that changes by
    // the caller's fetch do not reach the next attempt.
    const init = { method, headers: { ...headers }, signal, redirect: 'manual', ...notCached(), ...body } as const
    called = true
    let response: unknown
    try {
      response = await fetch(url, init)
    } catch (error) {
      // Convert the error here: ky would wrap any error that is not a TransportError.
      throw maybeSent(error)
    }
    if (!isResponse(response)) throw new NotAResponseError(`fetch must return a Response, got ${typeName(response)}`)
    // A `fetch` that ignores its signal may respond after the attempt was abandoned.
    if (signal.aborted) discard(response.body)
    return response
  }
  try {
    // Before ky is loaded: a runtime without fetch may lack the classes that ky needs.
    if (typeof fetch !== 'function') throw new Error('this runtime has no global fetch; pass fetch or a transport')
    return await read(await sendOnce(request, fetchOnce), request.maxResponseBytes, cancellation)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    // Once `fetch` was called, the request may have been sent. A wrapper of `fetch` may throw even after the response.
    throw called ? maybeSent(error) : notSent(error)
  }
}

/**
 * Returns the cache mode. Without it, Next.js may return the cached response of an earlier request, even to a write. Older
 * versions of Workers throw if the field is set, and have no `cache` in `Request.prototype`.
 */
const notCached = (): { readonly cache?: 'no-store' } =>
  globalThis.Request !== undefined && 'cache' in globalThis.Request.prototype ? { cache: 'no-store' } : {}

/** Deno's `fetch` (2.9.5) sends a text body again when the connection is lost. It sends a `Blob` once. */
const sentOnce = (body: string): string => ('Deno' in globalThis ? (new Blob([body]) as unknown as string) : body)

/** Checks the members: the responses of other packages are not instances of the global `Response`. */
function isResponse(value: unknown): value is Response {
  const { status, text, headers } = (value ?? {}) as Partial<Response>
  return Number.isInteger(status) && typeof text === 'function' && typeof headers?.get === 'function'
}

async function read(response: Response, maxBytes: number, cancellation: Cancellation): Promise<TransportResponse> {
  const { status, headers } = response
  const header = (name: string): string | null => headers.get(name)
  if (isRedirect(status)) {
    discard(response.body)
    return { status, header, text: '', complete: true }
  }
  try {
    return { status, header, text: await readText(response, maxBytes, cancellation), complete: true }
  } catch (cause) {
    // For an error response the status is enough, even if its body is incomplete.
    if (cancellation.signal.aborted || (status < 400 && cause instanceof TransportError)) throw cause
    return { status, header, text: '', complete: false, cause: maybeSent(cause) }
  }
}

/** Cancels an unread body. The `fetch` of some packages returns a Node stream as the body. */
function discard(body: unknown): void {
  const { cancel, destroy } = (body ?? {}) as { cancel?: unknown; destroy?: unknown }
  const end = typeof cancel === 'function' ? cancel : destroy
  if (typeof end === 'function') callSafely(() => end.call(body))
}

async function readText(response: Response, maxBytes: number, cancellation: Cancellation): Promise<string> {
  const { body, status } = response
  const tooLarge = (): TransportError =>
    new TransportError(`the response is larger than ${maxBytes} bytes`, { kind: 'too_large', sent: true, status })
  // In jsdom, a `fetch` of another realm returns a stream, but there is no TextDecoder.
  if (typeof body?.getReader !== 'function' || globalThis.TextDecoder === undefined) {
    const text = await response.text()
    // A UTF-16 code unit takes at most three bytes. Most responses need no TextEncoder, which jsdom lacks.
    if (text.length * 3 > maxBytes && new TextEncoder().encode(text).byteLength > maxBytes) throw tooLarge()
    return text
  }
  const reader = body.getReader()
  const cancel = (): void => callSafely(() => reader.cancel())
  // A `fetch` may ignore its signal while the body is read.
  const stopListening = cancellation.onCancel(cancel)
  const chunks = new ByteChunks(maxBytes)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      // Decode all bytes at once: decoding chunk by chunk takes Node 1.5 times as long.
      if (done) return new TextDecoder().decode(chunks.concat())
      if (!chunks.add(value)) {
        cancel()
        throw tooLarge()
      }
    }
  } finally {
    stopListening()
  }
}

const maybeSent = (thrown: unknown): unknown =>
  thrown instanceof TransportError || thrown instanceof NotAResponseError
    ? thrown
    : new TransportError('', { kind: 'network', sent: true, systemCode: systemCodeOf(thrown), cause: thrown })

const notSent = (cause: unknown): TransportError =>
  new TransportError('the request could not be made', { kind: 'network', sent: false, cause })
