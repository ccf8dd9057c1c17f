import { type AnyEndpoint, endpoints, type OpenQueryOperation, type OperationName } from '../../endpoints/index.ts'
import { type QueryNames, readRegistrationPath } from '../../endpoints/undocumented-options.ts'
import { validate } from '../../schemas/validate.ts'
import type { ServiceClock } from '../clock.ts'
import { applyFault, type FaultQueue, type Outcome, takesEffect } from '../faults/faults.ts'
import { type RuleContext, rules } from '../rules.ts'
import type { ServiceContent } from '../seed/service-content.ts'
import { authenticate, bearerTokenOf, type Grants, type RateLimit, type TokenGrant } from './access.ts'
import { badRequest, HttpError, type ServiceRequest, type ServiceResponse } from './messages.ts'
import { describeRequest, type RequestLog, type RequestRecord } from './request-log.ts'

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

interface RouterOptions {
  readonly queryNames?: QueryNames | undefined
  readonly webhookRegistrationPath?: string | undefined
}

/**
 * The base path of all operations.
 * See "Base URL and version" in docs/the-service.md.
 */
export const BASE_PATH = '/api/v1'

export interface Route {
  readonly operation: OperationName | undefined
  /** The methods of the path; empty for an unknown path. */
  readonly allowed: readonly string[]
}

const catalogue = Object.entries(endpoints) as readonly (readonly [OperationName, AnyEndpoint])[]

/** Finds the operation of a request and reads its arguments. */
export class Router {
  readonly #routes: readonly { readonly operation: OperationName; readonly method: string; readonly path: string }[]
  readonly #queryNames: QueryNames

  constructor({ queryNames = {}, webhookRegistrationPath = 'webhook' }: RouterOptions) {
    this.#queryNames = queryNames
    const registrationPath = readRegistrationPath(webhookRegistrationPath)
    this.#routes = catalogue.map(([operation, { method, path = registrationPath }]) => ({
      operation,
      method,
      path: `${BASE_PATH}/${path}`,
    }))
  }

  route({ method, url }: Pick<ServiceRequest, 'method' | 'url'>): Route {
    const candidates = this.#routes.filter(({ path }) => path === url.pathname)
    return {
      operation: candidates.find((candidate) => candidate.method === method)?.operation,
      allowed: candidates.map((candidate) => candidate.method),
    }
  }

  /** Returns the arguments. @throws HttpError (400) when they are wrong */
  read(operation: OperationName, request: ServiceRequest): unknown {
    const { method, request: schema } = endpoints[operation]
    const given = method === 'GET' ? this.#readQuery(operation, request.url) : readJsonBody(request)
    const checked = validate<unknown>(schema, given)
    if (checked.ok) return checked.value
    throw badRequest(checked.issues.map(({ path, message }) => `${path.join('.') || 'request'}: ${message}`).join('; '))
  }

  /** A parameter that occurs twice becomes a list, which no schema accepts. */
  #readQuery(operation: OperationName, { searchParams }: URL): Record<string, unknown> {
    const unchanged = [...searchParams.keys()].map((name) => [name, name] as const)
    const renamed = Object.entries<string>(this.#queryNames[operation as OpenQueryOperation] ?? {})
    const read = (name: string): unknown => {
      const values = searchParams.getAll(name)
      return values.length > 1 ? values : values[0]
    }
    return Object.fromEntries([...unchanged, ...renamed].map(([argument, wireName]) => [argument, read(wireName)]))
  }
}

function readJsonBody({ headers, body }: ServiceRequest): unknown {
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw badRequest('the Content-Type of a body must be application/json')
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    throw badRequest('the body is not JSON in UTF-8')
  }
}
