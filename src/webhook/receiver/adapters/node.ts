import { typeName } from '../../../shared/type-checks.ts'
import { SIGNATURE_HEADER } from '../read-message.ts'
import type { ReceiverCore } from '../receiver-core.ts'
import { type BodyLimits, type BodyRead, rawBytes, wholeBody } from '../request-body.ts'
import type { WebhookAnswer } from '../webhook-answer.ts'
import {
  discardRest,
  isBeingRead,
  isUnread,
  type NodeReadable,
  readStream,
  waitForEnd,
  wasRead,
} from './node-stream.ts'

/** The members of an `IncomingMessage` that the receiver uses. Requests of Express, Nest and http2 have them too. */
export interface NodeRequest extends NodeReadable {
  readonly method?: string | undefined
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** The members of a `ServerResponse` that the receiver uses. */
export interface NodeResponse {
  statusCode: number
  readonly headersSent: boolean
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/** See `WebhookReceiver.node`. Resolves after `response.end()`. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

export function nodeAdapter(core: ReceiverCore): NodeHandler {
  return async (request, response) => {
    requireArguments(request, response)
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

export function lengthHeader({ headers }: Pick<NodeRequest, 'headers'>): string | undefined {
  const length = headers['content-length']
  return typeof length === 'string' ? length : undefined
}

function send(response: NodeResponse, answer: WebhookAnswer): void {
  // A framework with its own timeout may have answered before.
  if (response.headersSent) return
  response.statusCode = answer.status
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
  response.end(answer.body)
}

/**
 * Reads the body from the stream. Uses `req.rawBody` or `req.body` only when the stream was read before or is empty:
 * body-parser of Express 4 sets `req.body` to an empty object even if it did not read the body.
 */
async function readNodeBody(request: NodeRequest, limits: BodyLimits): Promise<BodyRead> {
  if (isUnread(request)) {
    const read = await readStream(request, limits)
    // Some platforms provide the body in a property, and an empty stream.
    const stored = read.ok && read.bytes.byteLength === 0 ? storedBytes(request) : undefined
    return stored === undefined ? read : wholeBody(stored, limits.maxBytes)
  }
  if (isBeingRead(request)) {
    const failure = await waitForEnd(request, limits.deadline)
    if (failure) return failure
  }
  const stored = storedBytes(request)
  if (stored !== undefined) return wholeBody(stored, limits.maxBytes)
  if (!wasRead(request)) return readStream(request, limits)
  return {
    ok: false,
    reason: 'body_not_raw',
    detail:
      request.body === undefined
        ? 'The request stream was read before the receiver, and its bytes are lost. Mount the receiver before any ' +
          'middleware that reads the body.'
        : "req.body is parsed: a body parser (express.json(), Nest's default, Next's bodyParser) ran before the " +
          "receiver. Mount the receiver before it, or put express.raw({ type: '*/*' }) in front of this route " +
          '(Nest: rawBody: true; Next: export const config = { api: { bodyParser: false } }).',
  }
}

const storedBytes = ({ rawBody, body }: NodeRequest): Uint8Array | undefined => rawBytes(rawBody) ?? rawBytes(body)
