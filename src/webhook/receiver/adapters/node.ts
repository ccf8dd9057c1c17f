import { typeName } from '../../../shared/types.ts'
import { type BodyLimits, type BodyRead, rawBytes, wholeBody } from '../body-collector.ts'
import { SIGNATURE_HEADER } from '../read-message.ts'
import type { ReceiverCore } from '../receiver-core.ts'
import type { WebhookAnswer } from '../webhook-answer.ts'
import {
  discardRest,
  isBeingRead,
  isUnread,
  type NodeReadable,
  readByOthers,
  readStream,
  wasRead,
} from './node-stream.ts'

/** The part of an `IncomingMessage` that is used. Requests of Express, Nest and http2 fit too. */
export interface NodeRequest extends NodeReadable {
  readonly method?: string | undefined
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** The part of a `ServerResponse` that is used. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/** See `WebhookReceiver.node`. Resolves when the answer was given to the response. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

export function nodeAdapter(core: ReceiverCore): NodeHandler {
  return async (request, response) => {
    requireExchange(request, response)
    return core.accept(
      {
        method: request.method ?? '',
        signature: request.headers[SIGNATURE_HEADER],
        contentLength: lengthHeader(request),
        readBody: (limits) => readNodeBody(request, limits),
      },
      (answer) => {
        send(response, answer)
        discardRest(request)
      },
    )
  }
}

function requireExchange(request: Partial<NodeRequest> | undefined, response: Partial<NodeResponse> | undefined): void {
  const isRequest = typeof request?.on === 'function' && typeof request.headers === 'object'
  if (isRequest && typeof response?.setHeader === 'function') return
  throw new TypeError(
    `receiver.node takes the request and the response of node:http, and got ${typeName(request)} and ` +
      `${typeName(response)}. For a Request of the fetch API use receiver.fetch.`,
  )
}

export function lengthHeader({ headers }: Pick<NodeRequest, 'headers'>): string | undefined {
  const length = headers['content-length']
  return typeof length === 'string' ? length : undefined
}

function send(response: NodeResponse, answer: WebhookAnswer): void {
  // A framework with its own timeout may have answered meanwhile.
  if (response.headersSent) return
  response.statusCode = answer.status
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  response.end(answer.body)
}

/**
 * Reads the body from an unread stream, whatever `req.rawBody` and `req.body` hold. A body that was read before is taken
 * only if its bytes were kept. `req.body` cannot decide: body-parser of Express 4 sets it to an empty object even for
 * bodies it did not read.
 */
async function readNodeBody(request: NodeRequest, limits: BodyLimits): Promise<BodyRead> {
  if (isUnread(request)) {
    const read = await readStream(request, limits)
    // Some platforms provide the body beside an empty stream.
    const kept = read.ok && read.bytes.byteLength === 0 ? keptBytes(request) : undefined
    return kept === undefined ? read : wholeBody(kept, limits.maxBytes)
  }
  if (isBeingRead(request)) {
    const failure = await readByOthers(request, limits.deadline)
    if (failure) return failure
  }
  const kept = keptBytes(request)
  if (kept !== undefined) return wholeBody(kept, limits.maxBytes)
  if (!wasRead(request)) return readStream(request, limits)
  const parsed = property(request, 'body')
  return {
    ok: false,
    reason: 'body_not_raw',
    detail:
      parsed === undefined
        ? 'The request stream was read before the receiver, and its bytes were not kept. Mount the receiver before ' +
          'anything that reads the body.'
        : `req.body is ${kindOf(parsed)}: a body parser (express.json(), Nest's default, Next's bodyParser) ran before ` +
          "the receiver. Mount the receiver before it, or put express.raw({ type: '*/*' }) in front of this route " +
          '(Nest: rawBody: true; Next: export const config = { api: { bodyParser: false } }).',
  }
}

const keptBytes = (request: NodeRequest): Uint8Array | undefined =>
  rawBytes(property(request, 'rawBody')) ?? rawBytes(property(request, 'body'))

/** Reads a property. Some platforms parse the body in its getter, which may throw. */
function property(request: NodeRequest, name: 'body' | 'rawBody'): unknown {
  try {
    return Reflect.get(request, name)
  } catch {
    return undefined
  }
}

function kindOf(body: unknown): string {
  if (Array.isArray(body)) return 'an array'
  return typeof body === 'object' ? 'a parsed object' : `a ${typeof body}`
}
