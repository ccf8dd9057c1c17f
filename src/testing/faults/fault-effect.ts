import { endpoints, type OperationName } from '../../endpoints/index.ts'
import { standardError } from '../http/http-error.ts'
import { isBodyless, type ServiceAnswer } from '../http/request-and-answer.ts'
import type { FaultKind, FaultOptions, StatusFault } from './fault-options.ts'

/** How an answer is sent to the client. */
export type Transmission = 'whole' | 'truncated' | 'stalled' | 'dripped'

/** The outcome of a request for the client: an answer, a lost connection, or no answer. */
export type FaultOutcome =
  | { readonly kind: 'lost' }
  | { readonly kind: 'silent' }
  | {
      readonly kind: 'answer'
      readonly answer: ServiceAnswer
      readonly transmission: Transmission
      readonly delayMs: number
    }

/** The effect of a fault on a request. */
export interface FaultPlan {
  readonly kind: FaultKind
  /** Whether the service handles the request. */
  readonly handle: boolean
  /** @param answer - the service's answer; `undefined` if the service did not handle the request */
  outcome(answer: ServiceAnswer | undefined, operation: OperationName | undefined): FaultOutcome
}

export const answered = (answer: ServiceAnswer, transmission: Transmission = 'whole', delayMs = 0): FaultOutcome => ({
  kind: 'answer',
  answer,
  transmission,
  delayMs,
})

const HTML = '<!doctype html><html><body><h1>Something went wrong</h1></body></html>\n'
const DEFAULT_DELAY_MS = 100

/** Returns the plan of a fault whose options have been checked. */
export function planFault(options: FaultOptions): FaultPlan {
  const { kind } = options
  const replaceAnswer = (
    outcome: FaultOutcome,
    handle = 'applied' in options && options.applied === true,
  ): FaultPlan => ({
    kind,
    handle,
    outcome: () => outcome,
  })
  const changeAnswer = (
    change: (answer: ServiceAnswer, operation: OperationName | undefined) => FaultOutcome,
  ): FaultPlan => ({
    kind,
    handle: true,
    outcome: (answer, operation) => change(answer as ServiceAnswer, operation),
  })
  switch (kind) {
    case 'status':
      return replaceAnswer(answered(statusAnswer(options)))
    case 'garbage': {
      const { body = HTML } = options
      return replaceAnswer(answered({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body }))
    }
    case 'reset':
      return replaceAnswer({ kind: 'lost' })
    case 'applied_then_reset':
      return replaceAnswer({ kind: 'lost' }, true)
    case 'hang':
      return replaceAnswer({ kind: 'silent' })
    case 'truncate':
      return changeAnswer((answer) => answered(answer, 'truncated'))
    case 'stall':
      return changeAnswer((answer) => answered(answer, 'stalled'))
    case 'drip':
      return changeAnswer((answer) => answered(answer, 'dripped', options.delayMs ?? DEFAULT_DELAY_MS))
    case 'delay':
      return changeAnswer((answer) => answered(answer, 'whole', options.delayMs ?? DEFAULT_DELAY_MS))
    case 'misshapen':
      return changeAnswer((answer, operation) => answered({ ...answer, status: 200, body: misshapenBody(operation) }))
  }
}

function statusAnswer({ status = 500, headers = {}, body }: StatusFault): ServiceAnswer {
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
