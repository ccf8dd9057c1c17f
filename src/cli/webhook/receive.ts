import type { IncomingMessage, ServerResponse } from 'node:http'
import { type PostAnswer, postBytes } from './post-bytes.ts'
import { type Verification, verifyMessage } from './verify-message.ts'

/** A received message and its answers. */
export interface Received {
  readonly at: string
  readonly path: string
  readonly body: string
  /** Absent without a secret. */
  readonly examined?: Verification
  /** The answer of the server at `--forward-to`. */
  readonly forwarded?: PostAnswer
  /** The status of the answer to the sender. */
  readonly answered: number
}

interface ReceiveOptions {
  readonly secret: string | undefined
  readonly forwardTo: string | undefined
  /** @defaultValue 200, or 401 for a wrong signature */
  readonly status: number | undefined
}

const MAX_BODY_BYTES = 1_048_576
const MAX_ANSWER_BYTES = 1_048_576
const FORWARD_TIMEOUT_MS = 30_000

/** Verifies, forwards and answers a message. Resolves to `undefined` for a request that cannot be a message. */
export async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, forwardTo, status }: ReceiveOptions,
): Promise<Received | undefined> {
  const at = new Date().toISOString()
  if (request.method !== 'POST') {
    response.writeHead(405, { allow: 'POST' }).end('webhook messages are sent with POST')
    return undefined
  }
  const body = await readBody(request)
  if (body === undefined) {
    response.writeHead(413).end(`a message must not be larger than ${MAX_BODY_BYTES} bytes`)
    return undefined
  }
  const signature = request.headersDistinct['x-service-signature']
  const examined = secret === undefined ? undefined : verifyMessage(secret, body, signature)
  const forwarded = forwardTo === undefined ? undefined : await forward(forwardTo, request, body)
  const answered = forwarded ? (forwarded.status ?? 502) : (status ?? (examined?.valid === false ? 401 : 200))
  const contentType = forwarded?.contentType
  response.writeHead(answered, contentType ? { 'content-type': contentType } : {}).end(forwarded?.text)
  return {
    at,
    path: request.url ?? '/',
    body: new TextDecoder().decode(body),
    ...(examined && { examined }),
    ...(forwarded && { forwarded }),
    answered,
  }
}

/** Reads the whole body. Returns `undefined` if it is too large. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size <= MAX_BODY_BYTES) chunks.push(chunk)
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined
}

/** Headers of one connection, which must not be forwarded. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Sends the bytes and headers of a message to another server. An informational status (1xx) is an error. */
async function forward(url: string, request: IncomingMessage, message: Uint8Array): Promise<PostAnswer> {
  const headers = Object.fromEntries(
    Object.entries(request.headersDistinct).filter(([name]) => !CONNECTION_HEADERS.has(name)),
  ) as Record<string, string[]>
  const limits = { timeoutMs: FORWARD_TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES }
  const answer = await postBytes(url, headers, message, limits)
  const { status = 200, ms } = answer
  return status < 200 ? { text: '', error: `status ${status} is not a final answer`, ms } : answer
}
