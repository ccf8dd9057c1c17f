import type { OperationName } from '../../endpoints.ts'

/** A request as the service sees it, whichever way it came. */
export interface ServiceRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: Uint8Array
}

/** The service's answer, before a fault spoils it. */
export interface ServiceAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Whether an answer of this status has no body, and no length either. */
export const isBodyless = (status: number): boolean => status === 204 || status === 205 || status === 304

/** An answer together with what became of the request, for the log. */
export interface Handled {
  readonly answer: ServiceAnswer
  /** Why the request was refused, in words. */
  readonly reason?: string
}

/** Where a request leads. */
export interface Route {
  readonly operation: OperationName | undefined
  /** The methods the path takes; empty for a path that is not there. */
  readonly allowed: readonly string[]
}
