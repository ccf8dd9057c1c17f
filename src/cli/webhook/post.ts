import { postBytes } from './http-post.ts'

/** What became of a message. */
export interface Answer {
  /** The `id` in the message, if it has one. */
  readonly id?: string
  /** Absent where there was no answer. */
  readonly status?: number
  /** The beginning of the answer. */
  readonly text: string
  /** Why there was none. */
  readonly error?: string
  readonly ms: number
}

/** Posts a message once, as the service does. Never rejects: a failure is an answer, too. */
export async function post(
  url: string,
  message: Uint8Array,
  signature: string | undefined,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Answer> {
  const started = performance.now()
  const id = idOf(message)
  const headers = {
    'content-type': 'application/json',
    ...(signature !== undefined && { 'x-service-signature': signature }),
  }
  const about = () => ({ ...(id !== undefined && { id }), ms: Math.round(performance.now() - started) })
  try {
    const { status, body } = await postBytes(url, headers, message, { ...options, maxBytes: 1024 })
    return { status, text: new TextDecoder().decode(body).trim(), ...about() }
  } catch (error) {
    return { text: '', error: error instanceof Error ? error.message : String(error), ...about() }
  }
}

function idOf(message: Uint8Array): string | undefined {
  try {
    const id: unknown = JSON.parse(new TextDecoder().decode(message)).id
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}
