import type { IncomingMessage } from 'node:http'
import { postBytes } from './http-post.ts'

/** What became of a message that was passed on. */
export interface Forwarded {
  /** Absent where there was no answer that can be passed back. */
  readonly status?: number
  readonly contentType?: string
  /** The answer, as text. */
  readonly text: string
  /** Why there was none. */
  readonly error?: string
  readonly ms: number
}

const TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 1_048_576
/** Headers of one connection, which say nothing about the next. */
const OF_THE_CONNECTION = new Set([
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

/** Passes a message on, byte for byte, with its own headers. Never rejects. */
export async function forward(url: string, request: IncomingMessage, message: Uint8Array): Promise<Forwarded> {
  const started = performance.now()
  const ms = () => Math.round(performance.now() - started)
  const headers = Object.fromEntries(
    Object.entries(request.headersDistinct).filter(([name]) => !OF_THE_CONNECTION.has(name)),
  ) as Record<string, string[]>
  try {
    const answer = await postBytes(url, headers, message, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES })
    const { status, body } = answer
    // 1xx announce an answer, and are none; below them there is nothing that a server could send.
    if (status < 200) return { text: '', error: `the answer was a status ${status}, and no more`, ms: ms() }
    const contentType = answer.headers['content-type']
    return { status, ...(contentType && { contentType }), text: new TextDecoder().decode(body), ms: ms() }
  } catch (error) {
    return { text: '', error: error instanceof Error ? error.message : String(error), ms: ms() }
  }
}
