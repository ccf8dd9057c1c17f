import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { proxyAgentFor } from '../proxy.ts'

interface PostOptions {
  /** Time limit until the end of the answer, in milliseconds. */
  readonly timeoutMs: number
  /** Maximum number of bytes of the answer to keep. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

/** The answer to a POST, or the reason why there was none. */
export interface PostAnswer {
  /** Absent without an answer. */
  readonly status?: number
  readonly contentType?: string
  /** The beginning of the body. */
  readonly text: string
  /** Why there was no answer. */
  readonly error?: string
  readonly ms: number
}

type Headers = Readonly<Record<string, string | readonly string[]>>

/** Posts bytes once. Never rejects: a failed connection gives an answer with an `error`. */
export async function postBytes(
  url: string,
  headers: Headers,
  body: Uint8Array,
  options: PostOptions,
): Promise<PostAnswer> {
  const started = performance.now()
  const answer = await send(url, headers, body, options).catch(({ code, message }: NodeJS.ErrnoException) => {
    return { text: '', error: code ?? message }
  })
  return { ...answer, ms: Math.round(performance.now() - started) }
}

async function send(
  url: string,
  headers: Headers,
  body: Uint8Array,
  { timeoutMs, maxBytes, signal }: PostOptions,
): Promise<Omit<PostAnswer, 'ms'>> {
  const sendRequest = url.startsWith('https:') ? httpsRequest : httpRequest
  const agent = (await proxyAgentFor(url)) ?? false
  signal?.throwIfAborted()
  const request = sendRequest(url, {
    method: 'POST',
    // The agent of a proxy is used once. It must not keep the connection.
    headers: { ...headers, 'content-length': body.length, connection: 'close' } as never,
    agent,
  })
  const abandon = (reason: Error): void => {
    // A request without a connection emits no event when it is destroyed.
    request.emit('error', reason)
    request.destroy()
  }
  const timer = setTimeout(() => abandon(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  const interrupt = () => abandon(signal?.reason)
  signal?.addEventListener('abort', interrupt)
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request
        .on('response', resolve)
        .on('upgrade', (upgrade, socket) => {
          socket.destroy()
          resolve(upgrade.destroy())
        })
        .on('error', reject)
        .on('close', () => reject(new Error('the connection was closed without an answer')))
        .end(body)
    })
    const contentType = answer.headers['content-type']
    const text = await readText(answer, maxBytes)
    return { status: answer.statusCode ?? 0, ...(contentType && { contentType }), text }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', interrupt)
  }
}

async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= maxBytes) break
    }
  } catch {
    // The connection failed. Keep the received part of the body.
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes))
}
