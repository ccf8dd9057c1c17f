/** Under this name a client shows what other rooms need of it, to every copy of the package in a process. */
export const CLIENT_INSIDE: unique symbol = Symbol.for('campaign-client.inside') as never

/** Where the writes of a client go. No secret. */
export interface ClientTarget {
  /** The base URL. */
  readonly address: string
  /** `iss` of the access token; null where the token shows none. */
  readonly issuer: string | null
  /** `sub` of the access token; null where the token shows none. */
  readonly subject: string | null
}

/** Why the guard would refuse an award. */
interface Refusal {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** What a client shows of itself: never its token. */
export interface ClientInside {
  /**
   * Where its writes go. Asks the token source, if there is one and no token yet.
   *
   * @param operation - for the errors
   * @throws AccessTokenError | TimeoutError when there is no token; the signal's reason
   */
  target(operation: string, signal: AbortSignal | undefined): Promise<ClientTarget>
  /** What its guard has against an award, by path and in words. */
  refusalsOfAward(award: Readonly<Record<string, unknown>>): readonly Refusal[]
}

/** What the value shows of itself, if it is a client of ours. */
export function clientInside(value: unknown): ClientInside | undefined {
  return typeof value === 'object' && value !== null && CLIENT_INSIDE in value
    ? (value[CLIENT_INSIDE] as ClientInside | undefined)
    : undefined
}
