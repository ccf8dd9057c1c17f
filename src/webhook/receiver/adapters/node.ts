import { ByteChunks } from '../../../shared/byte-chunks.ts'
import { startTimer } from '../../../shared/timers.ts'
import { hasMethod, isRecord, typeName } from '../../../shared/type-checks.ts'
import type { Receiver } from '../receiver.ts'
import {
  addChunk,
  type BodyFailure,
  type BodyLimits,
  type BodyRead,
  type Deadline,
  rawBytes,
  SIGNATURE_HEADER,
  wholeBody,
} from '../request.ts'
import { readWebStream } from './fetch.ts'

/** The members of a Node readable stream that the receiver uses. Projects without Node's types can compile this type. */
export interface NodeReadable {
  /** Whether the stream was closed. */
  readonly destroyed?: boolean
  /** Whether the stream was read. */
  readonly readableDidRead?: boolean
  /** Whether the stream was read to its end. */
  readonly readableEnded?: boolean
  /** Whether the stream is being read. */
  readonly readableFlowing?: boolean | null
  /** Adds a listener. */
  on(event: string, listener: (...values: unknown[]) => void): unknown
  /** Removes a listener. */
  removeListener(event: string, listener: (...values: unknown[]) => void): unknown
  /** Returns the number of listeners. */
  listenerCount?(event: string): number
  /** Reads a chunk. */
  read?(): unknown
  /** Discards the data that nobody reads. */
  resume(): unknown
  /** Closes the stream. */
  destroy(): unknown
  /** The stream of an http2 request. */
  readonly stream?: { close(): unknown }
}

/** The members of an `IncomingMessage` that the receiver uses. Requests of Express, Nest and http2 have them too. */
export interface NodeRequest extends NodeReadable {
  /** The HTTP method. */
  readonly method?: string | undefined
  /** The headers, with lower-case names. */
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  /** The body, if the platform or a parser has read it: bytes, a `Blob`, a stream of bytes or text. Parsed data is refused. */
  readonly body?: unknown
  /** The body, if the platform stores it here. */
  readonly rawBody?: unknown
}

/** The members of a `ServerResponse` that the receiver uses. */
export interface NodeResponse {
  /** The HTTP status. */
  statusCode: number
  /** Whether the headers were sent. */
  readonly headersSent: boolean
  /** Sets a header. */
  setHeader(name: string, value: string): unknown
  /** Sends the response. */
  end(body: string): unknown
}

/** See `WebhookReceiver.node`. Resolves after `response.end()`. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

/** The members of a Fastify request that the plugin uses. */
export interface FastifyWebhookRequest {
  /** The HTTP method. */
  readonly method: string
  /** The headers, with lower-case names. */
  readonly headers: NodeRequest['headers']
  /** Node's request. */
  readonly raw: NodeReadable
  /** The body that a parser has set. */
  readonly body?: unknown
}

/** The members of a Fastify reply that the plugin uses. */
export interface FastifyWebhookReply {
  /** Sets the HTTP status. */
  code(status: number): unknown
  /** Sets a header. */
  header(name: string, value: string): unknown
  /** Sends the response. */
  send(body: string): unknown
}

/** The members of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  /** Removes the parsers of bodies. */
  removeAllContentTypeParsers(): unknown
  /** Adds a parser of bodies. */
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: NodeReadable, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  /** Sets the function that responds to errors. */
  setErrorHandler(
    handler: (error: Error, request: FastifyWebhookRequest, reply: FastifyWebhookReply) => Promise<unknown>,
  ): unknown
  /** Adds a route for all methods. */
  all(path: string, handler: (request: FastifyWebhookRequest, reply: FastifyWebhookReply) => Promise<unknown>): unknown
}

/** See `WebhookReceiver.fastify`. Takes the options of `register`, such as `prefix`. */
export type FastifyPlugin = (scope: FastifyScope) => Promise<void>

export function nodeAdapter(receiver: Receiver): NodeHandler {
  return async (request, response) => {
    requireArguments(request, response)
    return receiver.accept(
      {
        method: request.method ?? '',
        signature: request.headers[SIGNATURE_HEADER],
        contentLength: lengthHeader(request),
        readBody: (limits) => readNodeBody(request, limits),
      },
      ({ status, headers, body }) => {
        // A framework with its own timeout may have responded before.
        if (!response.headersSent) {
          response.statusCode = status
          for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
          response.end(body)
        }
        discardRest(request)
      },
    )
  }
}

function requireArguments(
  request: Partial<NodeRequest> | undefined,
  response: Partial<NodeResponse> | undefined,
): void {
  const isRequest = typeof request?.on === 'function' && typeof request.headers === 'object'
  if (isRequest && typeof response?.setHeader === 'function') return
  throw new TypeError(
    `receiver.node takes the request and the response of node:http, and got ${typeName(request)} and ` +
      `${typeName(response)}. For a Request of the fetch API use receiver.fetch.`,
  )
}

function lengthHeader({ headers }: Pick<NodeRequest, 'headers'>): string | undefined {
  const length = headers['content-length']
  return typeof length === 'string' ? length : undefined
}

const CONSUMED: BodyRead = {
  ok: false,
  reason: 'body_not_raw',
  detail:
    'the request stream was read before the receiver: a hook of the application (onRequest, preParsing or preValidation) ' +
    'consumes bodies; exclude the route of the receiver from it, or return another stream from preParsing',
}

export function fastifyAdapter(receiver: Receiver): FastifyPlugin {
  const handle = (request: FastifyWebhookRequest, reply: FastifyWebhookReply): Promise<unknown> => {
    // Prefer the payload, which the parser sets as `body`: a hook may have replaced the raw stream. A request without a
    // body has no payload.
    const stream = hasMethod(request.body, 'resume') ? (request.body as NodeReadable) : request.raw
    return receiver.accept(
      {
        method: request.method,
        signature: request.headers[SIGNATURE_HEADER],
        contentLength: lengthHeader(request),
        async readBody(limits) {
          if (isEmpty(stream)) return { ok: true, bytes: new Uint8Array() }
          return wasRead(stream) ? CONSUMED : readStream(stream, limits)
        },
      },
      ({ status, headers, body }) => {
        reply.code(status)
        for (const [name, value] of Object.entries(headers)) reply.header(name, value)
        discardRest(stream)
        return reply.send(body)
      },
    )
  }
  return async (scope) => {
    // These calls affect only the scope of the plugin. The parser reads nothing: the receiver reads the body.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    // Fastify refuses some content types before it calls the parser. The receiver needs none of them.
    scope.setErrorHandler(async (error, request, reply) => {
      if (!isContentTypeError(error)) throw error
      return handle(request, reply)
    })
    scope.all('/', handle)
  }
}

const isContentTypeError = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'

/**
 * Reads the body from `req.rawBody` or `req.body` if a platform has stored its bytes there, otherwise from the stream. Text in
 * these properties is used only when the stream was read before or is empty: other code may still be collecting it.
 */
async function readNodeBody(request: NodeRequest, limits: BodyLimits): Promise<BodyRead> {
  const { readableDidRead, readableEnded, readableFlowing, destroyed } = request
  const isUnread = readableDidRead === false && readableEnded !== true && destroyed !== true
  // Other code is reading the stream.
  if (!isUnread && readableFlowing === true && readableEnded === false && destroyed !== true) {
    const failure = await waitForEnd(request, limits.deadline)
    if (failure) return failure
  }
  let empty: BodyRead | undefined
  for (const name of STORED_IN) {
    const reading = readStored(property(request, name), request, limits)
    // Skip the await, so that the first listener of the stream is added at once.
    if (reading === undefined) continue
    const read = await reading
    // Bytes win over an unread stream: the stream of some platforms is a placeholder that never ends.
    if (!read.ok || read.bytes.byteLength > 0) return read
    empty = read
  }
  if (isUnread) {
    const read = await readStream(request, limits)
    if (!read.ok || read.bytes.byteLength > 0) return read
  }
  const text = STORED_IN.map((name) => property(request, name)).find(
    (value) => typeof value === 'string' && value !== '',
  )
  if (text !== undefined) return wholeBody(rawBytes(text) as Uint8Array, limits.maxBytes)
  if (empty !== undefined) return empty
  const body = property(request, 'body')
  if (isEmpty(request) && hasNoContent(body)) return { ok: true, bytes: new Uint8Array() }
  if (!wasRead(request)) return readStream(request, limits)
  return {
    ok: false,
    reason: 'body_not_raw',
    detail:
      body === undefined
        ? 'the request stream was read before the receiver, and its bytes are lost; mount the receiver before any ' +
          'middleware that reads the body'
        : "req.body is parsed: a body parser (express.json(), Nest's default, Next's bodyParser) ran before the " +
          'receiver; mount the receiver before it, or put express.raw({ type: () => true }) in front of this route ' +
          '(Nest: rawBody: true; Next: export const config = { api: { bodyParser: false } })',
  }
}

/** The properties in which platforms store the body, in order of preference. */
const STORED_IN = ['rawBody', 'body'] as const

/** Reads stored bytes, a `Blob` or a stream of bytes. Returns `undefined` for any other value, also for text. */
function readStored(
  value: unknown,
  request: NodeRequest,
  limits: BodyLimits,
): BodyRead | Promise<BodyRead> | undefined {
  if (typeof value === 'string' || value === request) return undefined
  const bytes = rawBytes(value)
  if (bytes !== undefined) return wholeBody(bytes, limits.maxBytes)
  if (hasMethod(value, 'getReader')) return readStoredStream(value as ReadableStream, limits)
  if (hasMethod(value, 'arrayBuffer') && hasMethod(value, 'stream'))
    return readWebStream((value as Blob).stream(), limits)
  if (!hasMethod(value, 'resume') || !hasMethod(value, 'removeListener')) return undefined
  const stream = value as NodeReadable
  return wasRead(stream) && !isEmpty(stream) ? STREAM_WAS_READ : readStream(stream, limits)
}

async function readStoredStream(stream: ReadableStream, limits: BodyLimits): Promise<BodyRead> {
  try {
    // Throws for a stream that was read or is locked.
    new Response(stream)
  } catch {
    return STREAM_WAS_READ
  }
  return readWebStream(stream, limits)
}

const STREAM_WAS_READ: BodyRead = {
  ok: false,
  reason: 'body_not_raw',
  detail:
    'the stream in req.body was read before the receiver, and its bytes are lost; mount the receiver before any ' +
    'middleware that reads the body',
}

/** Whether `req.body` is absent. body-parser of Express 4 sets it to an empty object if the request has no body. */
function hasNoContent(body: unknown): boolean {
  if (body === undefined || body === null || body === '') return true
  if (!isRecord(body) || Object.keys(body).length > 0) return false
  const prototype: unknown = Object.getPrototypeOf(body)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Reads a property. The getter of a host throws if it cannot parse the body, and then there is none. */
function property(request: NodeRequest, name: 'rawBody' | 'body'): unknown {
  try {
    return request[name]
  } catch {
    return undefined
  }
}

/** Whether the stream ended without any data: a request without a body, with `optimizeEmptyRequests` of node:http. */
function isEmpty(stream: NodeReadable): boolean {
  return stream.readableEnded === true && stream.readableDidRead === false
}

/** Whether something was read from the stream. If so, the remaining bytes are not the whole body. */
function wasRead(stream: NodeReadable): boolean {
  return stream.readableDidRead === true || stream.readableEnded === true
}

/** Waits until the stream has ended. `body` receives its chunks. */
function waitForEnd(stream: NodeReadable, deadline: Deadline, body?: ByteChunks): Promise<BodyFailure | undefined> {
  return new Promise((resolve) => {
    const stop = (failure?: BodyFailure): void => {
      for (const [event, listener] of listeners) stream.removeListener(event, listener)
      resolve(failure)
    }
    const onAborted = (): void => stop({ ok: false, reason: 'body_aborted' })
    const listeners: [event: string, listener: (chunk: unknown) => void][] = [
      ['end', () => stop()],
      ['error', onAborted],
      ['aborted', onAborted],
      ['close', onAborted],
    ]
    if (body) {
      const onData = (chunk: unknown): void => {
        const failure = addChunk(body, chunk)
        if (failure) stop(failure)
      }
      listeners.push(['data', onData])
    }
    deadline.onPassed(() => stop({ ok: false, reason: 'body_timeout' }))
    for (const [event, listener] of listeners) stream.on(event, listener)
  })
}

/** Makes the stream emit `data`. A stream with a `readable` listener emits `data` only when `read()` is called. */
function startReading(stream: NodeReadable): void {
  if ((stream.listenerCount?.('readable') ?? 0) === 0) {
    stream.resume()
    return
  }
  const readAll = (): void => {
    while ((stream.read?.() ?? null) !== null);
  }
  stream.on('readable', readAll)
  readAll()
}

/**
 * Reads a stream to its end. Uses listeners, because leaving a `for await` loop destroys the stream, and with it the
 * connection on which the response is sent.
 */
async function readStream(stream: NodeReadable, { maxBytes, deadline }: BodyLimits): Promise<BodyRead> {
  // Never removed, because an error without a listener would end the process.
  stream.on('error', () => {})
  // A destroyed stream emits no events.
  if (stream.destroyed) return { ok: false, reason: 'body_aborted' }
  const body = new ByteChunks(maxBytes)
  const ended = waitForEnd(stream, deadline, body)
  startReading(stream)
  return (await ended) ?? { ok: true, bytes: body.concat() }
}

const MAX_REST_BYTES = 1_048_576
const MAX_REST_MS = 5000

/**
 * Reads and drops the rest of a body after the response, within limits. Closing the connection at once would reset it, and the
 * sender would often not see the response.
 */
function discardRest(stream: NodeReadable): void {
  if (stream.readableEnded || stream.destroyed) return
  let left = MAX_REST_BYTES
  const stop = (): void => {
    // Destroying an http2 request does not stop the sender.
    stream.stream?.close()
    stream.destroy()
  }
  const cancel = startTimer(MAX_REST_MS, stop)
  stream.on('error', cancel)
  stream.on('end', cancel)
  stream.on('close', cancel)
  stream.on('data', (chunk) => {
    left -= rawBytes(chunk)?.byteLength ?? 0
    if (left < 0) stop()
  })
  startReading(stream)
}
