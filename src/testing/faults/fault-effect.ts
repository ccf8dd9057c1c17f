import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { standardError } from '../http/http-error.ts'
import { isBodyless, type ServiceResponse } from '../http/request-and-response.ts'
import type { FaultKind, RequestFaultOptions, StatusFault } from './fault-options.ts'

/** How a response is sent to the client. */
export type Transmission = 'whole' | 'truncated' | 'stalled' | 'dripped'

/** The outcome of a request for the client: a response, a lost connection, or no response. */
export type FaultOutcome =
  | { readonly kind: 'lost' }
  | { readonly kind: 'silent' }
  | {
      readonly kind: 'response'
      readonly response: ServiceResponse
      readonly transmission: Transmission
      readonly delayMs: number
    }

/** The effect of a fault on a request. */
export interface FaultPlan {
  readonly kind: FaultKind
  /** Whether the service handles the request. */
  readonly handle: boolean
  /** @param response - the service's response; `undefined` if the service did not handle the request */
  outcome(response: ServiceResponse | undefined, operation: OperationName | undefined): FaultOutcome
}

export const respondWith = (
  response: ServiceResponse,
  transmission: Transmission = 'whole',
  delayMs = 0,
): FaultOutcome => ({
  kind: 'response',
  response,
  transmission,
  delayMs,
})

const HTML = '<!doctype html><html><body><h1>Something went wrong</h1></body></html>\n'
const DEFAULT_DELAY_MS = 100

/** Returns the plan of a fault whose options have been checked. */
export function planFault(options: RequestFaultOptions): FaultPlan {
  const { kind } = options
  const replaceResponse = (
    outcome: FaultOutcome,
    handle = 'applied' in options && options.applied === true,
  ): FaultPlan => ({
    kind,
    handle,
    outcome: () => outcome,
  })
  const changeResponse = (
    change: (response: ServiceResponse, operation: OperationName | undefined) => FaultOutcome,
  ): FaultPlan => ({
    kind,
    handle: true,
    outcome: (response, operation) => change(response as ServiceResponse, operation),
  })
  switch (kind) {
    case 'status':
      return replaceResponse(respondWith(statusResponse(options)))
    case 'garbage': {
      const { body = HTML } = options
      return replaceResponse(
        respondWith({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body }),
      )
    }
    case 'reset':
      return replaceResponse({ kind: 'lost' })
    case 'applied_then_reset':
      return replaceResponse({ kind: 'lost' }, true)
    case 'hang':
      return replaceResponse({ kind: 'silent' })
    case 'truncate':
      return changeResponse((response) => respondWith(response, 'truncated'))
    case 'stall':
      return changeResponse((response) => respondWith(response, 'stalled'))
    case 'drip':
      return changeResponse((response) => respondWith(response, 'dripped', options.delayMs ?? DEFAULT_DELAY_MS))
    case 'delay':
      return changeResponse((response) => respondWith(response, 'whole', options.delayMs ?? DEFAULT_DELAY_MS))
    case 'misshapen':
      return changeResponse((response, operation) =>
        respondWith({ ...response, status: 200, body: misshapenBody(operation) }),
      )
  }
}

function statusResponse({ status = 500, headers = {}, body }: StatusFault): ServiceResponse {
  const named = new Headers({ ...headers })
  if (isBodyless(status)) return { status, headers: Object.fromEntries(named), body: '' }
  if (!named.has('content-type')) named.set('content-type', `${contentType(body)}; charset=utf-8`)
  const text = typeof body === 'string' ? body : JSON.stringify(body === undefined ? standardError(status) : body)
  return { status, headers: Object.fromEntries(named), body: text }
}

function contentType(body: unknown): string {
  if (typeof body !== 'string') return 'application/json'
  return /^\s*</.test(body) ? 'text/html' : 'text/plain'
}

const misshapenBody = (operation: OperationName | undefined): string =>
  JSON.stringify(
    operation !== undefined && endpoints[operation].response !== undefined
      ? { success: true, data: 'data of the wrong type' }
      : { result: 'no envelope' },
  )
