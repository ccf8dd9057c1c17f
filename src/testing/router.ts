import * as z from 'zod/mini'
import type { $ZodType } from 'zod/v4/core'
import { type Endpoint, endpoints, type OperationName, type RequestOf } from '../endpoints.ts'
import { badRequest } from './refusal.ts'
import type { Route, ServiceRequest } from './service-request.ts'

type OpenEndpoint = 'getCampaignInfo' | 'getCampaignPoints' | 'getUserProfiles' | 'getInviteCode'

/** Other names for the query parameters that the interface leaves open, as the client's option of the same name. */
export type ServiceQueryNames = {
  readonly [Name in OpenEndpoint]?: { readonly [Argument in keyof RequestOf<Name>]?: string | undefined } | undefined
}

/** What the interface leaves open about routing. */
export interface RouterOptions {
  readonly queryNames?: ServiceQueryNames | undefined
  readonly webhookRegistrationPath?: string | undefined
}

/** The path all operations are under. Interface: Versioning. */
export const BASE_PATH = '/api/v1'

const catalogue = Object.entries(endpoints) as unknown as readonly (readonly [OperationName, Endpoint])[]

/** Finds the operation a request is for, and reads its arguments. */
export class Router {
  readonly #paths = new Map<string, { operation: OperationName; method: string }[]>()
  readonly #queryNames: ReadonlyMap<OperationName, Readonly<Record<string, string>>>

  /** @throws TypeError when an option names what is not there. */
  constructor({ queryNames, webhookRegistrationPath = 'webhook' }: RouterOptions) {
    this.#queryNames = readQueryNames(queryNames)
    for (const [operation, { method, path = trimSlashes(webhookRegistrationPath) }] of catalogue) {
      const url = `${BASE_PATH}/${path}`
      const known = this.#paths.get(url) ?? []
      if (path === '' || /[\s?#]/.test(path) || known.some((other) => other.method === method)) {
        throw new TypeError('webhookRegistrationPath must be a path of its own below the base URL, like "webhook"')
      }
      this.#paths.set(url, [...known, { operation, method }])
    }
  }

  route({ method, url }: Pick<ServiceRequest, 'method' | 'url'>): Route {
    const candidates = this.#paths.get(url.pathname) ?? []
    return {
      operation: candidates.find((candidate) => candidate.method === method)?.operation,
      allowed: candidates.map((candidate) => candidate.method),
    }
  }

  /** The arguments of the operation, checked. @throws Refusal (400) */
  read(operation: OperationName, request: ServiceRequest): unknown {
    const given =
      endpoints[operation].method === 'GET' ? this.#readQuery(operation, request.url) : readJsonBody(request)
    // Each schema is its own type; here only what they have in common is needed.
    const result = z.safeParse(endpoints[operation].request as $ZodType, given)
    if (result.success) return result.data
    throw badRequest(
      result.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`).join('; '),
    )
  }

  #readQuery(operation: OperationName, url: URL): Record<string, string> {
    const names = this.#queryNames.get(operation) ?? {}
    const given: Record<string, string> = {}
    for (const argument of argumentsOf(operation)) {
      const name = names[argument] ?? argument
      const [value, ...more] = url.searchParams.getAll(name)
      if (more.length > 0) throw badRequest(`the query parameter "${name}" is there more than once`)
      if (value !== undefined) given[argument] = value
    }
    return given
  }
}

const argumentsOf = (operation: OperationName): string[] =>
  Object.keys((endpoints[operation].request as unknown as z.ZodMiniObject).shape)

function readJsonBody({ headers, body }: ServiceRequest): unknown {
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw badRequest('the Content-Type of a body must be application/json')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw badRequest('the body is not JSON in UTF-8')
  }
}

function readQueryNames(given: ServiceQueryNames = {}): ReadonlyMap<OperationName, Readonly<Record<string, string>>> {
  const queryNames = new Map<OperationName, Readonly<Record<string, string>>>()
  const open = catalogue.filter(([, endpoint]) => endpoint.assumedQueryNames).map(([name]) => name)
  for (const [operation, names] of Object.entries(given)) {
    const name = open.find((candidate) => candidate === operation)
    if (!name) throw new TypeError(`queryNames: "${operation}" is not one of ${open.join(', ')}`)
    const renamed: Record<string, string> = {}
    for (const [argument, wireName] of Object.entries((names ?? {}) as Record<string, unknown>)) {
      if (!argumentsOf(name).includes(argument)) {
        throw new TypeError(`queryNames.${operation}: "${argument}" is not one of ${argumentsOf(name).join(', ')}`)
      }
      if (wireName === undefined) continue
      if (typeof wireName !== 'string' || wireName === '') {
        throw new TypeError(`queryNames.${operation}.${argument} must be a non-empty string`)
      }
      renamed[argument] = wireName
    }
    queryNames.set(name, renamed)
  }
  return queryNames
}

const trimSlashes = (path: string): string => path.replace(/^\/+|\/+$/g, '')
