import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import { USER_AGENT } from '../../shared/http.ts'
import { adviceOnConnection, type ConnectionError } from '../../shared/receiver-advice.ts'
import { proxyAgentFor } from '../connection.ts'

interface PostOptions {
  /** Time limit until the end of the response, in milliseconds. */
  readonly timeoutMs: number
  /** Maximum size of the response body to keep, in bytes. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

/** The response to a POST, or the reason why there was none. */
export interface ReceiverResponse {
  /** Absent without a response. */
  readonly status?: number
  readonly headers: IncomingMessage['headersDistinct']
  /** The body as it arrived, not decompressed. */
  readonly body: Uint8Array
  /** Whether the body is complete, and not longer than `maxBytes`. */
  readonly isComplete: boolean
  /** Why there was no response. */
  readonly error?: string
  /** What to do about the error. */
  readonly advice?: string | undefined
  readonly ms: number
}

type Headers = Readonly<Record<string, string | readonly string[]>>

/** Posts bytes once. Never rejects: without a response, the result has an `error`. */
export async function postBytes(
  url: string,
  headers: Headers,
  body: Uint8Array,
  options: PostOptions,
): Promise<ReceiverResponse> {
  const started = performance.now()
  const result = await send(url, headers, body, options).catch((error: ConnectionError) => ({
    headers: {},
    body: new Uint8Array(),
    isComplete: false,
    error: error.code ?? error.message,
    advice: adviceOnConnection(error),
  }))
  return { ...result, ms: Math.round(performance.now() - started) }
}

/** Returns the body of a response as text. A compressed body is described by its size. */
export function textOf({ headers, body }: ReceiverResponse): string {
  const [encoding = 'identity'] = headers['content-encoding'] ?? []
  return encoding === 'identity' ? new TextDecoder().decode(body) : `(${body.length} bytes of ${encoding})`
}

async function send(
  url: string,
  headers: Headers,
  body: Uint8Array,
  { timeoutMs, maxBytes, signal }: PostOptions,
): Promise<Omit<ReceiverResponse, 'ms'>> {
  const sendRequest = url.startsWith('https:') ? httpsRequest : httpRequest
  const agent = (await proxyAgentFor(url)) ?? false
  signal?.throwIfAborted()
  const request = sendRequest(url, {
    method: 'POST',
    // The agent of a proxy is used once. It must not keep the connection.
    headers: { 'user-agent': USER_AGENT, ...headers, 'content-length': body.length, connection: 'close' } as never,
    agent,
    ALPNProtocols: ['http/1.1'],
  } as RequestOptions)
  const abandon = (reason: Error): void => {
    // A request without a connection emits no event when it is destroyed.
    request.emit('error', reason)
    request.destroy()
  }
  const timer = setTimeout(() => abandon(new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
  const interrupt = () => abandon(signal?.reason)
  signal?.addEventListener('abort', interrupt)
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request
        .on('response', resolve)
        .on('upgrade', (upgrade, socket) => {
          socket.destroy()
          resolve(upgrade.destroy())
        })
        .on('error', reject)
        .on('close', () => reject(new Error('the connection was closed without a response')))
        .end(body)
    })
    const { headersDistinct, statusCode = 0 } = response
    return { status: statusCode, headers: headersDistinct, ...(await readPart(response, maxBytes)) }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', interrupt)
  }
}

async function readPart(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Pick<ReceiverResponse, 'body' | 'isComplete'>> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) break
    }
  } catch {
    // The connection failed. Keep the received part of the body.
  }
  const body = Buffer.concat(chunks).subarray(0, maxBytes)
  return { body, isComplete: response.complete && size <= maxBytes }
}
