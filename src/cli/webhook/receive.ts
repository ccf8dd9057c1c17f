import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer, readBody } from '../http-server.ts'
import { type Examined, examine } from './examine.ts'
import { postBytes } from './post-bytes.ts'

/** A message that arrived, and what was done with it. */
export interface Received {
  readonly at: string
  readonly path: string
  readonly body: string
  /** Absent without a secret. */
  readonly examined?: Examined
  readonly forwarded?: Forwarded
  /** The status of the answer to the sender. */
  readonly answered: number
}

/** The answer of the server that a message was forwarded to. */
export interface Forwarded {
  /** Absent where there was no answer that can be passed back. */
  readonly status?: number
  readonly contentType?: string
  readonly text: string
  /** Why there was no answer. */
  readonly error?: string
  readonly ms: number
}

interface ReceiveOptions {
  readonly secret: string | undefined
  readonly forwardTo: string | undefined
  /** The status to answer with. By default 200, or 401 for a wrong signature. */
  readonly status: number | undefined
}

const MAX_BODY_BYTES = 1_048_576
const MAX_ANSWER_BYTES = 1_048_576
const FORWARD_TIMEOUT_MS = 30_000

/** Receives one message, verifies, forwards and answers it. Gives `undefined` for a request that is not a message. */
export async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { secret, forwardTo, status }: ReceiveOptions,
): Promise<Received | undefined> {
  const at = new Date().toISOString()
  if (request.method !== 'POST') {
    answer(response, 405, 'a webhook message is a POST', { allow: 'POST' })
    return undefined
  }
  const body = await readBody(request, MAX_BODY_BYTES)
  if (body === undefined) {
    answer(response, 413, `a message may have at most ${MAX_BODY_BYTES} bytes`)
    return undefined
  }
  const signature = request.headersDistinct['x-service-signature']
  const examined = secret === undefined ? undefined : await examine(secret, body, signature)
  const forwarded = forwardTo === undefined ? undefined : await forward(forwardTo, request, body)
  const answered = forwarded ? (forwarded.status ?? 502) : (status ?? (examined?.valid === false ? 401 : 200))
  const contentType = forwarded?.contentType
  answer(response, answered, forwarded?.text ?? '', contentType ? { 'content-type': contentType } : {})
  return {
    at,
    path: request.url ?? '/',
    body: new TextDecoder().decode(body),
    ...(examined && { examined }),
    ...(forwarded && { forwarded }),
    answered,
  }
}

/** Headers that belong to one connection, and are not passed on. */
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

/** Passes a message on with its bytes and headers. Never rejects. */
async function forward(url: string, request: IncomingMessage, message: Uint8Array): Promise<Forwarded> {
  const started = performance.now()
  const ms = () => Math.round(performance.now() - started)
  const headers = Object.fromEntries(
    Object.entries(request.headersDistinct).filter(([name]) => !CONNECTION_HEADERS.has(name)),
  ) as Record<string, string[]>
  try {
    const limits = { timeoutMs: FORWARD_TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES }
    const { status, headers: answered, body } = await postBytes(url, headers, message, limits)
    // 1xx is not a final answer, and a server cannot send a status below 100.
    if (status < 200) return { text: '', error: `status ${status} is not a final answer`, ms: ms() }
    const contentType = answered['content-type']
    return { status, ...(contentType && { contentType }), text: new TextDecoder().decode(body), ms: ms() }
  } catch (error) {
    return { text: '', error: error instanceof Error ? error.message : String(error), ms: ms() }
  }
}
