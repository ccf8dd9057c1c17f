/** The service's answer, before a fault spoils it. */
export interface ServiceAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Whether an answer of this status has no body, and no length either. */
export const isBodyless = (status: number): boolean => status === 204 || status === 205 || status === 304
