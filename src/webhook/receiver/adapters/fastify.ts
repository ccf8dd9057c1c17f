import { hasMethod } from '../../../shared/type-checks.ts'
import type { Receiver } from '../receiver.ts'
import { type BodyRead, SIGNATURE_HEADER } from '../request.ts'
import { discardRest, isEmpty, lengthHeader, type NodeReadable, type NodeRequest, readStream, wasRead } from './node.ts'

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
