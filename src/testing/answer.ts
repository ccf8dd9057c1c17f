/** An answer of the service, as it gave it. What a fault made of it on the way is another matter. */
export interface ServiceAnswer {
  /** The HTTP status. */
  readonly status: number
  /** The headers, lower-case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, as text; empty when there is none. */
  readonly body: string
}

/** Whether an answer of this status has no body, and no length either. */
export const isBodyless = (status: number): boolean => status === 204 || status === 205 || status === 304
