import { hasMethod } from '../../../shared/type-checks.ts'
import { SIGNATURE_HEADER } from '../read-message.ts'
import type { ReceiverCore } from '../receiver-core.ts'
import type { BodyRead } from '../request-body.ts'
import { lengthHeader, type NodeRequest } from './node.ts'
import { discardRest, type NodeReadable, readStream, wasRead } from './node-stream.ts'

/** The members of a Fastify request that the plugin uses. */
export interface FastifyWebhookRequest {
  readonly method: string
  readonly headers: NodeRequest['headers']
  readonly raw: NodeReadable
  readonly body?: unknown
}

/** The members of a Fastify reply that the plugin uses. */
export interface FastifyWebhookReply {
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(body: string): unknown
}

/** The members of a Fastify instance that the plugin uses. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: NodeReadable, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  all(path: string, handler: (request: FastifyWebhookRequest, reply: FastifyWebhookReply) => Promise<unknown>): unknown
}

/** See `WebhookReceiver.fastify`. Takes the options of `register`, such as `prefix`. */
export type FastifyPlugin = (scope: FastifyScope) => Promise<void>

const CONSUMED: BodyRead = {
  ok: false,
  reason: 'body_not_raw',
  detail:
    'The request stream was read before the receiver: a hook of the application (onRequest, preParsing or preValidation) ' +
    'consumes bodies. Exclude the route of the receiver from it, or return another stream from preParsing.',
}

export function fastifyAdapter(core: ReceiverCore): FastifyPlugin {
  return async (scope) => {
    // Both calls affect only the scope of the plugin. The parser reads nothing: the receiver reads the body.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

    scope.all('/', async (request, reply) => {
      // Prefer the payload, which the parser sets as `body`: a hook may have replaced the raw stream. A request without a
      // body has no payload.
      const stream = hasMethod(request.body, 'resume') ? (request.body as NodeReadable) : request.raw
      return core.accept(
        {
          method: request.method,
          signature: request.headers[SIGNATURE_HEADER],
          contentLength: lengthHeader(request),
          readBody: async (limits) => (wasRead(stream) ? CONSUMED : readStream(stream, limits)),
        },
        (answer) => {
          reply.code(answer.status)
          for (const [name, value] of Object.entries(answer.headers)) reply.header(name, value)
          discardRest(stream)
          return reply.send(answer.body)
        },
      )
    })
  }
}
