/** A request to the service, over HTTP or through `service.fetch`. */
export interface ServiceRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: Uint8Array
}

/** A response of the service. */
export interface ServiceResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text; empty when there is none. */
  readonly body: string
}

/** Whether a response of this status has neither a body nor a length. */
export const isBodyless = (status: number): boolean => status === 204 || status === 205 || status === 304
