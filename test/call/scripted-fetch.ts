import { TransportError } from 'campaign-client'

/** The arguments of a call of `fetch`. */
export interface SentRequest {
  readonly method: string
  readonly url: string
  readonly authorization: string
  readonly body: string | undefined
  readonly signal: AbortSignal
  /** A time of `performance.now()`. */
  readonly at: number
}

/** A connection failure. */
export type ConnectionFault = 'refused' | 'unknown host' | 'reset' | 'silence'

/** Returns a response, or throws as `fetch` does. */
export interface Step {
  (request: SentRequest): Response | Promise<Response>
  /** The connection failure that the Node transport gets in place of the step. */
  readonly fault?: ConnectionFault
}

/** A `fetch` without a network. */
export interface ScriptedFetch {
  readonly fetch: typeof globalThis.fetch
  /** All requests, in order. */
  readonly sent: readonly SentRequest[]
}

/** Answers the n-th request with the n-th step, and further requests with the last one. */
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

/** Responds with JSON. */
export function respond(status: number, body: unknown, headers: Record<string, string> = {}): Step {
  return () => Response.json(body, { status, headers })
}

/** Responds with the standard error envelope, in which `success` is true. */
export function refusal(status: number, headers: Record<string, string> = {}): Step {
  return respond(status, { success: true, error: { code: status, message: 'scripted' } }, headers)
}

/** Throws a `TypeError` with the error of the connection as its cause, like the built-in `fetch`. */
export function failing(cause: unknown): Step {
  return () => {
    throw new TypeError('fetch failed', { cause })
  }
}

/** Creates an error with the code of a system error. */
export function systemError(code: string, message: string, fields: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(message), { code, ...fields })
}

const withFault = (fault: ConnectionFault, step: Step): Step => Object.assign(step, { fault })

/** Rejects with a `TransportError` with `sent: false`. */
function unsent(systemCode: string, message: string): Step {
  return () => {
    throw new TransportError(message, { kind: 'network', sent: false, systemCode })
  }
}

export const refused = withFault('refused', unsent('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:9'))
export const noSuchHost = withFault('unknown host', unsent('ENOTFOUND', 'getaddrinfo ENOTFOUND service.example'))
export const lost = withFault(
  'reset',
  failing(systemError('ECONNRESET', 'read ECONNRESET', { errno: -104, syscall: 'read' })),
)

/** Never responds. Rejects when its signal aborts, like the built-in `fetch`. */
export const hanging = withFault(
  'silence',
  ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
)
