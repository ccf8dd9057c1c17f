import { toJsonLine } from './text.ts'

/** Returns a property of any value; `undefined` if the value is not an object. */
const read = (value: unknown, key: symbol): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined

/** The key of a client's internals, the same in every copy of the package in a process. */
export const CLIENT_INTERNALS: unique symbol = Symbol.for('campaign-client.internals') as never

/** The service and the account of a client. Contains no secret. */
export interface ClientTarget {
  /** The base URL. */
  readonly address: string
  /** `iss` of the access token; null if the token is not a JWT with `iss`. */
  readonly issuer: string | null
  /** `sub` of the access token; null if the token is not a JWT with `sub`. */
  readonly subject: string | null
}

/** The key of an internal call option: the account whose tokens may be sent. The same in every copy of the package. */
const ACCOUNT: unique symbol = Symbol.for('campaign-client.account') as never

/** Issuer and subject of an access token. */
export type Account = Pick<ClientTarget, 'issuer' | 'subject'>

/** Returns call options that allow only tokens of this account. */
export const optionsFor = ({ issuer, subject }: Account): object => ({ [ACCOUNT]: { issuer, subject } })

/** Returns the account of {@link optionsFor}; `undefined` for any other options. */
export const accountOf = (options: unknown): Account | undefined => read(options, ACCOUNT) as Account | undefined

/** The key of an internal call option: the caller paces its calls itself. The same in every copy of the package. */
const PACED: unique symbol = Symbol.for('campaign-client.paced') as never

/** Call options with which a 429 fails the call immediately. The caller waits instead, and reports the wait. */
export const PACED_OPTIONS: object = { [PACED]: true }

/** Whether call options contain {@link PACED_OPTIONS}. */
export const isPaced = (options: unknown): boolean => read(options, PACED) === true

/** A reason why the guard would refuse an award. */
interface Refusal {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Functions of a client for other modules. They never return the token. */
export interface ClientInternals {
  /**
   * Returns the target of the client. Calls the token source if there is no token yet.
   *
   * @param operation - the method to name in errors
   * @throws AccessTokenError | TimeoutError when there is no token; the signal's reason after an abort
   */
  target(operation: string, signal: AbortSignal | undefined): Promise<ClientTarget>
  /** The maximum number of retries of a call. */
  readonly maxRetries: number
  /** Returns the reasons why the guard of the client would refuse an award. */
  refusalsOfAward(award: { readonly pid: string; readonly xp: number }): readonly Refusal[]
}

/** Returns the internals of a client of this package; `undefined` for any other value. */
export const clientInternals = (value: unknown): ClientInternals | undefined =>
  read(value, CLIENT_INTERNALS) as ClientInternals | undefined

/** Stands for an issuer or a subject that a token does not have. */
const NONE = 'none'

/** Returns the text by which issuers or subjects are compared. A blank `iss` or `sub` counts as absent. */
export const textOfClaim = (claim: string | null): string => (claim === null || claim.trim() === '' ? NONE : claim)

/** Whether a token has an issuer or a subject. */
export const hasClaim = (claim: string | null): claim is string => textOfClaim(claim) !== NONE

/** Formats an issuer or a subject for a message. */
export const shownClaim = (claim: string | null): string => (hasClaim(claim) ? toJsonLine(claim) : NONE)

const TARGET_PARTS = [
  ['address', 'base URL'],
  ['issuer', "token issuer ('iss')"],
  ['subject', "token subject ('sub')"],
] as const

/** Returns the parts in which two targets differ, each with its name for messages. */
export const differentParts = (one: ClientTarget, other: ClientTarget) =>
  TARGET_PARTS.filter(([part]) => textOfClaim(one[part]) !== textOfClaim(other[part]))
