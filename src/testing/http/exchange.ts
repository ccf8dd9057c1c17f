import type { OperationName } from '../../endpoints/index.ts'
import { answered, type FaultOutcome, type FaultPlan } from '../faults/fault-plan.ts'
import type { FaultQueue } from '../faults/fault-queue.ts'
import { badRequest, Refusal, standardError } from '../refusal.ts'
import { rules } from '../rules/index.ts'
import type { RuleContext } from '../rules/rule.ts'
import type { Authenticator, TokenGrant } from '../tokens.ts'
import { describeRequest, type RequestLog, type RequestRecord } from './request-log.ts'
import type { Route, Router } from './router.ts'
import type { ServiceAnswer, ServiceRequest } from './service-message.ts'

/** The largest body the service reads, in bytes. Assumed: the interface shows no limit. */
export const MAX_BODY_BYTES = 1_048_576

export interface ExchangeParts {
  readonly router: Router
  readonly authenticator: Authenticator
  readonly faults: FaultQueue
  readonly log: RequestLog
  /** Returns the context in which one request is handled. */
  open(grant: TokenGrant): RuleContext
  now(): number
  /** Called after each request, with the answer if the client gets one. */
  onAnswer(request: RequestRecord, answer: ServiceAnswer | undefined): void
}

/** The service's own answer, with its details for the log. */
interface Handled {
  readonly answer: ServiceAnswer
  /** Why the request was refused, in words. */
  readonly reason?: string
}

/** Handles one request: takes a fault, performs the operation, and records both. Returns the outcome for the client. */
export function exchange(request: ServiceRequest, parts: ExchangeParts): FaultOutcome {
  const route = parts.router.route(request)
  const plan = parts.faults.take(route.operation)
  const access = authenticate(request, parts.authenticator)
  const handled = plan?.handle === false ? undefined : handle(request, route, access, parts)
  const outcome = present(plan, handled?.answer, route.operation)

  const record = parts.log.add({
    at: parts.now(),
    ...(route.operation && { operation: route.operation }),
    ...describeRequest(request),
    authorized: !(access instanceof Refusal),
    handled: handled !== undefined,
    ...(outcome.kind === 'answer' && { status: outcome.answer.status }),
    ...(handled?.reason !== undefined && { reason: handled.reason }),
    ...(plan && { fault: plan.kind }),
  })
  parts.onAnswer(record, outcome.kind === 'answer' ? outcome.answer : undefined)
  return outcome
}

const present = (
  plan: FaultPlan | undefined,
  answer: ServiceAnswer | undefined,
  operation: OperationName | undefined,
): FaultOutcome => (plan ? plan.present(answer, operation) : answered(answer as ServiceAnswer))

function authenticate(request: ServiceRequest, authenticator: Authenticator): TokenGrant | Refusal {
  try {
    return authenticator.authenticate(request.headers.get('authorization'))
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function handle(
  request: ServiceRequest,
  { operation, allowed }: Route,
  access: TokenGrant | Refusal,
  parts: ExchangeParts,
): Handled {
  try {
    if (operation === undefined) throw unknownRoute(request, allowed)
    if (access instanceof Refusal) throw access
    if (request.body.length > MAX_BODY_BYTES) throw badRequest(`the body is larger than ${MAX_BODY_BYTES} bytes`)
    const data = perform(operation, parts.router.read(operation, request), parts.open(access))
    return { answer: json(200, data === undefined ? { success: true } : { success: true, data }) }
  } catch (error) {
    if (error instanceof Refusal) return refused(error.status, error.body, error.message, error.headers)
    return refused(500, standardError(500), `a defect of the local service itself: ${error}`)
  }
}

/** The answer when the service itself, or a function that was passed to it, fails. */
export const internalError = (reason: string): ServiceAnswer => refused(500, standardError(500), reason).answer

/** The body is as the interface shows it. The reason goes into a header that the client's errors include. */
function refused(status: number, body: unknown, reason: string, headers?: Readonly<Record<string, string>>): Handled {
  return { answer: json(status, body, { ...headers, 'x-refusal-reason': inHeader(reason) }), reason }
}

const MAX_REASON_LENGTH = 300

const inHeader = (text: string): string => text.slice(0, MAX_REASON_LENGTH).replaceAll(/[^ -~]/g, '?')

const perform = (operation: OperationName, request: unknown, context: RuleContext): unknown =>
  // The router has read the request with the operation's own schema.
  (rules[operation] as (request: unknown, context: RuleContext) => unknown)(request, context)

// The interface shows neither status: the standard envelope with 404 and 405 is assumed.
function unknownRoute({ method, url }: ServiceRequest, allowed: readonly string[]): Refusal {
  if (allowed.length === 0) return new Refusal({ status: 404, reason: `there is no ${url.pathname}` })
  const allow = allowed.join(', ')
  return new Refusal({ status: 405, reason: `${url.pathname} takes ${allow}, not ${method}`, headers: { allow } })
}

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ServiceAnswer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
})
