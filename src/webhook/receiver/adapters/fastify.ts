import type { BodyRead } from '../body.ts'
import type { ReceiverCore } from '../core.ts'
import { SIGNATURE_HEADER } from '../intake.ts'
import { lengthHeader, type NodeRequest } from './node.ts'
import { discardRest, type NodeReadable, readStream, wasRead } from './node-stream.ts'

/** The part of a Fastify request that is used. */
export interface FastifyWebhookRequest {
  readonly method: string
  readonly headers: NodeRequest['headers']
  readonly raw: NodeReadable
  readonly body?: unknown
}

/** The part of a Fastify reply that is used. */
export interface FastifyWebhookReply {
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(body: string): unknown
}

/** The part of a Fastify instance that is used. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: NodeReadable, done: (error: Error | null, body?: unknown) => void) => void,
  ): unknown
  all(path: string, handler: (request: FastifyWebhookRequest, reply: FastifyWebhookReply) => Promise<unknown>): unknown
}

/** See `WebhookReceiver.fastify`. Its options are those of `register`, `prefix` above all. */
export type FastifyPlugin = (scope: FastifyScope) => Promise<void>

const CONSUMED: BodyRead = {
  ok: false,
  reason: 'body_not_raw',
  detail:
    'The request stream was read before the receiver got it: a hook (onRequest, preParsing or preValidation) of the ' +
    "application consumes bodies. Let it pass over the receiver's route, or return another stream from preParsing.",
}

export function fastifyAdapter(core: ReceiverCore): FastifyPlugin {
  return async (scope) => {
    // Fastify encapsulates both in the plugin's scope. Handing the payload on unread leaves the limit, and the
    // counting while it streams, to the receiver.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, new UnreadPayload(payload)))

    scope.all('/', async (request, reply) => {
      // Without a body Fastify runs no parser. A hook in front may have replaced the stream, so `raw` is second choice.
      const stream = request.body instanceof UnreadPayload ? request.body.stream : request.raw
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

class UnreadPayload {
  readonly stream: NodeReadable

  constructor(stream: NodeReadable) {
    this.stream = stream
  }
}
