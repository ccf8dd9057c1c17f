import type { OperationName } from '../../endpoints/index.ts'
import { tryParseJson } from '../../shared/text.ts'
import type { FaultKind } from '../faults/fault-options.ts'
import { RecentLog } from '../recent-log.ts'
import type { ServiceRequest } from './messages.ts'

/** A request to the service, without its token and without the secrets of webhooks. */
export interface RequestRecord {
  /** Number of the request, from 1. `reset` does not restart the count. */
  readonly id: number
  /** Time of arrival, in milliseconds since the epoch, by the service's clock. */
  readonly at: number
  /** The operation; absent for an unknown path or method. */
  readonly operation?: OperationName
  /** The HTTP method. */
  readonly method: string
  /** The whole URL of the request. */
  readonly url: string
  /** The path, `/api/v1` included. */
  readonly path: string
  /** The query parameters, each with all its values. */
  readonly query: Readonly<Record<string, readonly string[]>>
  /** The headers, with names in lower case, without `Authorization` and cookies. */
  readonly headers: Readonly<Record<string, string>>
  /** The body: parsed if it is complete JSON of at most 1 000 levels, otherwise as text. Absent when there was none. */
  readonly body?: unknown
  /** The body as text, at most its first 256 kB, without secrets. Absent when there was none. */
  readonly bodyText?: string
  /** How many bytes of the body the service read: at most about 1 MB; 0 without a body. */
  readonly bodySize: number
  /** Whether `body` and `bodyText` have only the beginning of the body. */
  readonly isBodyCut: boolean
  /** Whether the service accepted the token. */
  readonly authorized: boolean
  /** Whether the service handled the request; false when a fault prevented this. */
  readonly handled: boolean
  /** The HTTP status of the response; absent when a fault prevented the response. */
  readonly status?: number
  /** Why the service refused the request. */
  readonly reason?: string
  /** The fault that affected the request. */
  readonly fault?: FaultKind
}

/** The body is parsed on each access, so that every caller gets a copy. */
type StoredRequest = Omit<RequestRecord, 'body'>

const MAX_BODY_SIZE = 256_000
/** Deeper JSON stays text: `JSON.stringify` of the records would overflow the stack. */
const MAX_BODY_DEPTH = 1000
const PRIVATE_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie'])

/** The latest requests, oldest first. */
export class RequestLog {
  readonly #requests = new RecentLog<number, StoredRequest>()
  #count = 0

  get discarded(): number {
    return this.#requests.discarded
  }

  add(unnumbered: Omit<StoredRequest, 'id'>): RequestRecord {
    const request = { id: ++this.#count, ...unnumbered }
    this.#requests.set(request.id, request, JSON.stringify(request).length)
    return toRecord(request)
  }

  /** Returns copies. */
  records(): readonly RequestRecord[] {
    return this.#requests.values().map(toRecord)
  }

  clear(): void {
    this.#requests.clear()
  }
}

function toRecord(request: StoredRequest): RequestRecord {
  const copy = structuredClone(request)
  return copy.bodyText === undefined
    ? copy
    : { ...copy, body: copy.isBodyCut ? copy.bodyText : tryParseJson(copy.bodyText, copy.bodyText, MAX_BODY_DEPTH) }
}

/** Returns the record of a request, without its secrets. */
export function describeRequest({ method, url, headers, body }: ServiceRequest) {
  const query = [...new Set(url.searchParams.keys())].map((name) => [name, url.searchParams.getAll(name)] as const)
  return {
    method,
    url: `${url.origin}${url.pathname}${url.search}`,
    path: url.pathname,
    query: Object.fromEntries(query),
    headers: Object.fromEntries([...headers].filter(([name]) => !PRIVATE_HEADERS.has(name))),
    bodySize: body.length,
    ...describeBody(body),
  }
}

function describeBody(body: Uint8Array): Pick<RequestRecord, 'bodyText' | 'isBodyCut'> {
  if (body.length === 0) return { isBodyCut: false }
  const text = redacted(new TextDecoder().decode(body))
  // Encode and decode again: a slice of the text would keep the whole text in memory.
  const kept = new TextEncoder().encode(text)
  if (kept.length <= MAX_BODY_SIZE) return { bodyText: text, isBodyCut: false }
  return { bodyText: new TextDecoder().decode(kept.subarray(0, MAX_BODY_SIZE)), isBodyCut: true }
}

const REDACTED = '[redacted]'

function redacted(text: string): string {
  let found = false
  try {
    const body: unknown = JSON.parse(text, (key, value: unknown) => {
      if (key !== 'secret') return value
      found = true
      return REDACTED
    })
    return found ? JSON.stringify(body) : text
  } catch {
    // A body that is not valid JSON may contain a secret too, for example an incomplete body.
    return text.replaceAll(/("secret"\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)/g, `$1"${REDACTED}"`)
  }
}
