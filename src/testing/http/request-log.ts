import type { OperationName } from '../../endpoints/index.ts'
import type { FaultKind } from '../faults/options.ts'
import type { ServiceRequest } from './request.ts'

/** A request the service got. It never holds the token, nor a webhook's secret. */
export interface RequestRecord {
  /** Counts the requests from 1; `reset` does not begin again. */
  readonly id: number
  /** When it arrived, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
  /** The operation it was for; absent for a path or method that is not there. */
  readonly operation?: OperationName
  /** The HTTP method. */
  readonly method: string
  /** The whole address, as the client asked for it. */
  readonly url: string
  /** The path, `/api/v1` included. */
  readonly path: string
  /** The query parameters, with every value of each. */
  readonly query: Readonly<Record<string, readonly string[]>>
  /** The headers, lower-case, without `Authorization` and cookies. */
  readonly headers: Readonly<Record<string, string>>
  /** The body: parsed when it is JSON, its text when it is not, absent when there was none. */
  readonly body?: unknown
  /** The body as text, to send it again; absent when there was none. */
  readonly bodyText?: string
  /** Whether there was an `Authorization` header that let the request in. */
  readonly authorized: boolean
  /** Whether the service handled the request: false when a fault took its place. */
  readonly handled: boolean
  /** The HTTP status of the answer; absent where a fault left the client without one. */
  readonly status?: number
  /** Why the service refused, in words. The answer itself has only what the interface shows. */
  readonly reason?: string
  /** The fault that spoiled it, if any. */
  readonly fault?: FaultKind
}

const MAX_RECORDS = 10_000
const PRIVATE_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie'])

/** The requests of late, oldest first. */
export class RequestLog {
  readonly #records: RequestRecord[] = []
  #count = 0

  add(record: Omit<RequestRecord, 'id'>): RequestRecord {
    const numbered = { id: ++this.#count, ...record }
    this.#records.push(numbered)
    if (this.#records.length > MAX_RECORDS) this.#records.shift()
    return structuredClone(numbered)
  }

  /** Copies: what a test does to them is its own. */
  records(): readonly RequestRecord[] {
    return this.#records.map((record) => structuredClone(record))
  }

  clear(): void {
    this.#records.length = 0
  }
}

/** What of a request may be shown. */
export function describeRequest({
  method,
  url,
  headers,
  body,
}: ServiceRequest): Pick<RequestRecord, 'method' | 'url' | 'path' | 'query' | 'headers' | 'body' | 'bodyText'> {
  const query: [string, string[]][] = [...new Set(url.searchParams.keys())].map((name) => [
    name,
    url.searchParams.getAll(name),
  ])
  return {
    method,
    url: `${url.origin}${url.pathname}${url.search}`,
    path: url.pathname,
    query: Object.fromEntries(query),
    headers: Object.fromEntries([...headers].filter(([name]) => !PRIVATE_HEADERS.has(name))),
    ...(body.length > 0 && describeBody(new TextDecoder().decode(body))),
  }
}

const REDACTED = '[redacted]'

function describeBody(text: string): { body: unknown; bodyText: string } {
  let redacted = false
  try {
    const body: unknown = JSON.parse(text, (key, value: unknown) => {
      if (key !== 'secret') return value
      redacted = true
      return REDACTED
    })
    return { body, bodyText: redacted ? JSON.stringify(body) : text }
  } catch {
    // Text that only looks like JSON, a body that was cut off for instance, may hold a secret as well.
    const shown = text.replaceAll(/("secret"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)/g, `$1"${REDACTED}"`)
    return { body: shown, bodyText: shown }
  }
}
