import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { proxyAgentFor } from '../proxy.ts'

export interface PostOptions {
  /** Time limit until the end of the answer, in milliseconds. */
  readonly timeoutMs: number
  /** Bytes of the answer to keep. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

export interface PostAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/** Posts bytes once. @throws Error with a system error code or a reason as its message */
export async function postBytes(
  url: string,
  headers: Readonly<Record<string, string | readonly string[]>>,
  body: Uint8Array,
  { timeoutMs, maxBytes, signal }: PostOptions,
): Promise<PostAnswer> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  const agent = (await proxyAgentFor(url)) ?? false
  const request = send(url, { method: 'POST', headers: { ...headers, 'content-length': body.length } as never, agent })
  let abandon: (reason: string) => void = () => undefined
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    abandon = (reason) => {
      // A request without a connection emits no event when it is destroyed.
      reject(new Error(reason))
      request.destroy()
    }
    request
      .on('response', resolve)
      .on('upgrade', (answer, socket) => {
        socket.destroy()
        resolve(answer.destroy())
      })
      .on('error', reject)
      .on('close', () => reject(new Error('the connection was closed without an answer')))
      .end(body)
  })
  const interrupt = () => abandon('interrupted')
  const timer = setTimeout(() => abandon(`no answer within ${timeoutMs} ms`), timeoutMs)
  if (signal?.aborted) interrupt()
  signal?.addEventListener('abort', interrupt)
  try {
    return await readAnswer(await head, maxBytes)
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
    throw typeof code === 'string' ? new Error(code) : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', interrupt)
  }
}

async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<PostAnswer> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= maxBytes) break
    }
  } catch {
    // The connection broke. Keep the status and the part of the body.
  }
  const { statusCode: status = 0, headers } = response
  return { status, headers, body: Buffer.concat(chunks).subarray(0, maxBytes) }
}
