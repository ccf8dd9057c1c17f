import { type AnyEndpoint, endpoints, type OpenQueryOperation, type OperationName } from '../../endpoints/index.ts'
import { type QueryNames, readRegistrationPath } from '../../endpoints/undocumented.ts'
import { validate } from '../../schemas/validate.ts'
import { badRequest } from './responses.ts'

/** A request to the service, over HTTP or through `service.fetch`. */
export interface ServiceRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: Uint8Array
}

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
