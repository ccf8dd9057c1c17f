import type { OperationName } from '../../endpoints/index.ts'
import { type FaultOutcome, respondWith } from '../faults/fault-effect.ts'
import type { FaultQueue } from '../faults/fault-queue.ts'
import { rules } from '../rules/index.ts'
import type { RuleContext } from '../rules/rule.ts'
import { authenticate, type Grants, type TokenGrant } from '../tokens.ts'
import { badRequest, HttpError } from './http-error.ts'
import type { ServiceRequest, ServiceResponse } from './request-and-response.ts'
import { describeRequest, type RequestLog, type RequestRecord } from './request-log.ts'
import type { Route, Router } from './router.ts'

/** The largest body that the service reads, in bytes. Assumed: the API description shows no limit. */
export const MAX_BODY_BYTES = 1_048_576

export interface RequestHandling {
  readonly router: Router
  readonly grants: Grants
  readonly faults: FaultQueue
  readonly log: RequestLog
  contextOf(grant: TokenGrant): RuleContext
  now(): number
  /** Called after each request. `response` is `undefined` if the client gets no response. */
  onResponse(request: RequestRecord, response: ServiceResponse | undefined): void
}

/** The response of the service without faults, and the reason for an error response. */
interface Handled {
  readonly response: ServiceResponse
  readonly reason?: string
}

/** Applies the next fault, performs the operation and records the request. Returns the outcome for the client. */
export function handleRequest(request: ServiceRequest, handling: RequestHandling): FaultOutcome {
  const route = handling.router.route(request)
  const access = authenticate(request.headers.get('authorization'), handling.grants)
  const plan = handling.faults.take(route.operation)
  const handled = plan?.handle === false ? undefined : handle(request, route, access, handling)
  const outcome = plan ? plan.outcome(handled?.response, route.operation) : respondWith((handled as Handled).response)

  const record = handling.log.add({
    at: handling.now(),
    ...(route.operation && { operation: route.operation }),
    ...describeRequest(request),
    authorized: !(access instanceof HttpError),
    handled: handled !== undefined,
    ...(outcome.kind === 'response' && { status: outcome.response.status }),
    ...(handled?.reason !== undefined && { reason: handled.reason }),
    ...(plan && { fault: plan.kind }),
  })
  handling.onResponse(record, outcome.kind === 'response' ? outcome.response : undefined)
  return outcome
}

function handle(
  request: ServiceRequest,
  { operation, allowed }: Route,
  access: TokenGrant | HttpError,
  { router, contextOf }: RequestHandling,
): Handled {
  try {
    if (operation === undefined) throw unknownRoute(request, allowed)
    if (access instanceof HttpError) throw access
    if (request.body.length > MAX_BODY_BYTES) throw badRequest(`the body is larger than ${MAX_BODY_BYTES} bytes`)
    const data = perform(operation, router.read(operation, request), contextOf(access))
    return { response: json(200, { success: true, data }) }
  } catch (error) {
    const defect = `a defect of the local service itself: ${error}`
    const httpError = error instanceof HttpError ? error : new HttpError({ status: 500, reason: defect })
    const { status, body, message: reason, headers } = httpError
    return { response: json(status, body, { ...headers, 'x-refusal-reason': toHeader(reason) }), reason }
  }
}

const MAX_REASON_LENGTH = 300

const toHeader = (text: string): string => text.slice(0, MAX_REASON_LENGTH).replaceAll(/[^ -~]/g, '?')

const perform = (operation: OperationName, request: unknown, context: RuleContext): unknown =>
  // The router has read the request with the operation's own schema.
  (rules[operation] as (request: unknown, context: RuleContext) => unknown)(request, context)

// Assumed: 404 and 405, with the standard envelope. The API description shows neither status.
function unknownRoute({ method, url }: ServiceRequest, allowed: readonly string[]): HttpError {
  if (allowed.length === 0) return new HttpError({ status: 404, reason: `unknown path ${url.pathname}` })
  const allow = allowed.join(', ')
  return new HttpError({ status: 405, reason: `${url.pathname} takes ${allow}, not ${method}`, headers: { allow } })
}

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ServiceResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
})
