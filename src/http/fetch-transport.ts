import ky from 'ky'
import type { FetchLike } from '../options.ts'
import { ByteChunks } from '../shared/byte-chunks.ts'
import { callHook } from '../shared/call-hook.ts'
import { typeName } from '../shared/type-checks.ts'
import {
  isRedirect,
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../transport.ts'
import { Failure, invalidResponse } from './failure.ts'

// Retries, timeouts and error statuses depend on the operation: the callers of the transport handle them.
const sender = ky.create({ retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' })

/** Sends requests through ky, with the partner's `fetch` or the global one at the time of the call. */
export const fetchTransport = (customFetch: FetchLike | undefined): Transport => ({
  send: (request, signal) => send(customFetch ?? globalThis.fetch, request, signal),
})

async function send(fetch: FetchLike, request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
  const { method, url, headers } = request
  let called = false
  const fetchOnce = async (): Promise<Response> => {
    if (typeof fetch !== 'function') throw new TypeError('this runtime has no global fetch; pass fetch or a transport')
    const body = request.body === undefined ? {} : { body: sentOnce(request.body) }
    // Mocks, proxies and the fetch of other packages expect the URL as a string. The headers are a copy, so that changes by
    // a partner's fetch do not reach the next attempt.
    const init = { method, headers: { ...headers }, signal, redirect: 'manual', ...body } as const
    called = true
    let response: unknown
    try {
      response = await fetch(url, init)
    } catch (error) {
      // Convert the error here: ky would wrap any error that is not a TransportError.
      throw maybeSent(error)
    }
    if (!isResponse(response)) throw invalidResponse(`fetch must return a Response, got ${typeName(response)}`)
    // A `fetch` that ignores its signal may answer after the attempt was abandoned.
    if (signal.aborted) discard(response.body)
    return response
  }
  try {
    return await read(await sender(url, { method, fetch: fetchOnce }), request.maxResponseBytes, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    // Once `fetch` was called, the request may have been sent. A wrapper of `fetch` may throw even after the answer.
    throw called ? maybeSent(error) : notSent(error)
  }
}

/** Deno's `fetch` (2.9.5) sends a text body again when the connection is lost. It sends a `Blob` once. */
const sentOnce = (body: string): string => ('Deno' in globalThis ? (new Blob([body]) as unknown as string) : body)

/** Checks the members: the responses of other packages are not instances of the global `Response`. */
function isResponse(value: unknown): value is Response {
  const { status, text, headers } = (value ?? {}) as Partial<Response>
  return Number.isInteger(status) && typeof text === 'function' && typeof headers?.get === 'function'
}

async function read(response: Response, maxBytes: number, signal: AbortSignal): Promise<TransportResponse> {
  const { status, headers } = response
  const header = (name: string): string | null => headers.get(name)
  if (isRedirect(status)) {
    discard(response.body)
    return { status, header, text: '', complete: true }
  }
  try {
    return { status, header, text: await readText(response, maxBytes, signal), complete: true }
  } catch (cause) {
    // For an error answer the status is enough, even if its body is incomplete.
    if (signal.aborted || (status < 400 && cause instanceof TransportError)) throw cause
    return { status, header, text: '', complete: false, cause: maybeSent(cause) }
  }
}

/** Cancels an unread body. The `fetch` of some packages returns a Node stream as the body. */
function discard(body: unknown): void {
  const { cancel, destroy } = (body ?? {}) as { cancel?: unknown; destroy?: unknown }
  const end = typeof cancel === 'function' ? cancel : destroy
  if (typeof end === 'function') callHook(() => end.call(body))
}

async function readText(response: Response, maxBytes: number, signal: AbortSignal): Promise<string> {
  const { body, status } = response
  const tooLarge = (): TransportError =>
    new TransportError(`the answer is larger than ${maxBytes} bytes`, { kind: 'too_large', sent: true, status })
  if (typeof body?.getReader !== 'function') {
    const text = await response.text()
    if (new TextEncoder().encode(text).byteLength > maxBytes) throw tooLarge()
    return text
  }
  const reader = body.getReader()
  const cancel = (): void => callHook(() => reader.cancel())
  // A `fetch` may ignore its signal while the body is read.
  signal.addEventListener('abort', cancel)
  const chunks = new ByteChunks()
  let length = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      // Decode all bytes at once: decoding chunk by chunk takes Node 1.5 times as long.
      if (done) return new TextDecoder().decode(chunks.concat())
      length += value.byteLength
      if (length > maxBytes) {
        cancel()
        throw tooLarge()
      }
      chunks.add(value)
    }
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

const maybeSent = (thrown: unknown): unknown =>
  thrown instanceof TransportError || thrown instanceof Failure
    ? thrown
    : new TransportError('', { kind: 'network', sent: true, systemCode: systemCodeOf(thrown), cause: thrown })

const notSent = (cause: unknown): TransportError =>
  new TransportError('the request could not be made', { kind: 'network', sent: false, cause })

const MAX_CAUSE_DEPTH = 5

/** Returns the error code of the deepest cause that has one. Runtimes nest their errors differently. */
function systemCodeOf(thrown: unknown): string | undefined {
  let code: string | undefined
  let error = thrown as { code?: unknown; cause?: unknown } | undefined
  for (let depth = 0; depth <= MAX_CAUSE_DEPTH && typeof error === 'object' && error !== null; depth++) {
    if (typeof error.code === 'string') code = error.code
    error = error.cause as typeof error
  }
  return code
}
