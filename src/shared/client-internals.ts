/** The key under which a client shows its internals to other modules, in every copy of the package in a process. */
export const CLIENT_INTERNALS: unique symbol = Symbol.for('campaign-client.internals') as never

/** Where the writes of a client go. Holds no secret. */
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

/** What other modules may ask a client. It never shows its token. */
export interface ClientInternals {
  /**
   * Returns where the writes of the client go. Calls the token source if there is no token yet.
   *
   * @param operation - for the errors
   * @throws AccessTokenError | TimeoutError when there is no token; the signal's reason
   */
  target(operation: string, signal: AbortSignal | undefined): Promise<ClientTarget>
  /** Returns why the guard of the client would refuse an award. */
  refusalsOfAward(award: Readonly<Record<string, unknown>>): readonly Refusal[]
}

/** Returns the internals of a value that is a client of this package. */
export function clientInternals(value: unknown): ClientInternals | undefined {
  return typeof value === 'object' && value !== null && CLIENT_INTERNALS in value
    ? (value[CLIENT_INTERNALS] as ClientInternals | undefined)
    : undefined
}
