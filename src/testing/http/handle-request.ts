import type { ServiceClock } from '../clock/service-clock.ts'
import type { FaultQueue } from '../faults/fault-queue.ts'
import { applyFault, type Outcome, takesEffect } from '../faults/request-faults.ts'
import { type RuleContext, rules } from '../rules.ts'
import type { ServiceContent } from '../seed/load-seed.ts'
import { authenticate, bearerTokenOf, type Grants, type TokenGrant } from '../tokens.ts'
import type { RateLimit } from './rate-limit.ts'
import { describeRequest, type RequestLog, type RequestRecord } from './request-log.ts'
import { badRequest, HttpError, type ServiceResponse } from './responses.ts'
import type { Route, Router, ServiceRequest } from './router.ts'

/** The largest body that the service reads, in bytes. Assumed: the API description shows no limit. */
export const MAX_BODY_BYTES = 1_048_576

/** The parts of a service that handle its requests. */
interface RequestHandling {
  readonly router: Router
  readonly grants: Grants
  readonly rateLimit: RateLimit | undefined
  readonly faults: FaultQueue
  readonly log: RequestLog
  readonly clock: ServiceClock
  readonly content: ServiceContent
}

/** Applies the rate limit and the next fault, performs the operation and records the request. */
export function handleRequest(
  request: ServiceRequest,
  handling: RequestHandling,
): { readonly outcome: Outcome; readonly record: RequestRecord } {
  const { router, grants, rateLimit, faults, log, clock } = handling
  const route = router.route(request)
  const token = bearerTokenOf(request.headers.get('authorization'))
  const access = authenticate(token, grants)
  const isLimited = token !== undefined && !(access instanceof HttpError) && route.operation !== undefined
  const excess = isLimited ? rateLimit?.admit(token, clock.now()) : undefined
  // A request beyond the rate limit uses no fault, as if a gateway in front of the service had refused it.
  const fault = excess ? undefined : faults.take(route.operation)
  const handled = fault && !takesEffect(fault) ? undefined : handle(request, route, excess ?? access, handling)
  const outcome = applyFault(fault, handled?.response, route.operation)
  const record = log.add({
    at: clock.now(),
    ...(route.operation && { operation: route.operation }),
    ...describeRequest(request),
    authorized: !(access instanceof HttpError),
    handled: handled !== undefined,
    ...(outcome.kind === 'response' && { status: outcome.response.status }),
    ...(handled?.reason !== undefined && { reason: handled.reason }),
    ...(fault && { fault: fault.kind }),
  })
  return { outcome, record }
}

/** Returns the service's own response, and the reason for an error response. */
function handle(
  request: ServiceRequest,
  { operation, allowed }: Route,
  access: TokenGrant | HttpError,
  { router, content, clock }: RequestHandling,
): { readonly response: ServiceResponse; readonly reason?: string } {
  try {
    if (operation === undefined) throw unknownRoute(request, allowed)
    if (access instanceof HttpError) throw access
    if (request.body.length > MAX_BODY_BYTES) throw badRequest(`the body is larger than ${MAX_BODY_BYTES} bytes`)
    // The router reads the request with the operation's own schema.
    const rule = rules[operation] as (request: unknown, context: RuleContext) => unknown
    const data = rule(router.read(operation, request), { ...content, grant: access, now: clock.now() })
    return { response: json(200, { success: true, data }) }
  } catch (error) {
    const httpError =
      error instanceof HttpError ? error : new HttpError(500, `a defect of the local service itself: ${error}`)
    const { status, body, message: reason, headers } = httpError
    return { response: json(status, body, { ...headers, 'x-refusal-reason': toHeader(reason) }), reason }
  }
}

const MAX_REASON_LENGTH = 300

const toHeader = (text: string): string => text.slice(0, MAX_REASON_LENGTH).replaceAll(/[^ -~]/g, '?')

// Assumed: 404 and 405, with the standard envelope. The API description shows neither status.
function unknownRoute({ method, url }: ServiceRequest, allowed: readonly string[]): HttpError {
  if (allowed.length === 0) return new HttpError(404, `unknown path ${url.pathname}`)
  const allow = allowed.join(', ')
  return new HttpError(405, `${url.pathname} takes ${allow}, not ${method}`, { headers: { allow } })
}

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ServiceResponse => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(body),
})
