import { TransportError } from 'campaign-client'

/** What a call of `fetch` was given. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly authorization: string
  readonly body: string | undefined
  readonly signal: AbortSignal
  /** By `performance.now()`. */
  readonly at: number
}

/** What happens to a connection in the place of an answer. */
export type Accident = 'refused' | 'unknown host' | 'reset' | 'silence'

/** Answers one request: with a response, or by throwing as `fetch` does. */
export interface Step {
  (request: SentRequest): Response | Promise<Response>
  /** The same on a real connection. */
  readonly accident?: Accident
}

/** A `fetch` without a network that counts what it was asked. */
export interface ScriptedFetch {
  readonly fetch: typeof globalThis.fetch
  /** What was sent so far, in its order. */
  readonly sent: readonly SentRequest[]
}

/** The n-th request gets the n-th step, and the last step serves all that follow. */
export function scriptedFetch(...steps: readonly [Step, ...Step[]]): ScriptedFetch {
  const sent: SentRequest[] = []
  return {
    sent,
    fetch: async (input, init) => {
      const { method, url, headers, signal } = new Request(input, init)
      const body = typeof init?.body === 'string' ? init.body : undefined
      const at = performance.now()
      const request = { method, url, authorization: headers.get('authorization') ?? '', body, signal, at }
      const step = steps[Math.min(sent.push(request) - 1, steps.length - 1)] as Step
      return step(request)
    },
  }
}

/** An answer with a body in JSON. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): Step {
  return () => Response.json(body, { status, headers })
}

/** The standard error envelope, with the `success: true` of the published examples. */
export function refusal(status: number, headers: Record<string, string> = {}): Step {
  return answer(status, { success: true, error: { code: status, message: 'scripted' } }, headers)
}

/** Throws what the built-in `fetch` throws: a `TypeError` around the error of the connection. */
export function failing(cause: unknown): Step {
  return () => {
    throw new TypeError('fetch failed', { cause })
  }
}

/** An error as the system reports it. */
export function systemError(code: string, message: string, fields: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(message), { code, ...fields })
}

const asAccident = (accident: Accident, step: Step): Step => Object.assign(step, { accident })

/** Says, in the one way a `fetch` of a partner's can, that the request never left. */
function unsent(systemCode: string, message: string): Step {
  return () => {
    throw new TransportError(message, { kind: 'network', sent: false, systemCode })
  }
}

export const refused = asAccident('refused', unsent('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:9'))
export const noSuchHost = asAccident('unknown host', unsent('ENOTFOUND', 'getaddrinfo ENOTFOUND service.example'))
export const lost = asAccident(
  'reset',
  failing(systemError('ECONNRESET', 'read ECONNRESET', { errno: -104, syscall: 'read' })),
)

/** Answers never, and fails when its signal aborts, as the built-in `fetch` does. */
export const hanging = asAccident(
  'silence',
  ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
)
