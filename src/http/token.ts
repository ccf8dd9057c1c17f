import type { JWTPayload } from 'jose'
import { decodeJwt } from 'jose/jwt/decode'
import { AccessTokenError } from '../errors.ts'
import type { AccessTokenSource } from '../options.ts'
import { bearerToken, TOKEN_RULE } from '../shared/bearer-token.ts'
import { Failure } from './failure.ts'
import { safeCause } from './redact.ts'
import { within } from './timeout.ts'

/** A token is renewed this long before it expires, so that it does not expire on its way. */
const RENEW_BEFORE_MS = 30_000

/** Errors may quote tokens of a moment ago; more than these are not remembered. */
const REMEMBERED_TOKENS = 8

/** As long as a call lasts, when nothing else is said. */
const LONGEST_RENEWAL_MS = 60_000

interface Renewal {
  readonly token: Promise<string>
  /** On the clock of `performance.now()`. */
  readonly startedAt: number
  /** How many calls wait for it. */
  waiting: number
}

/** Holds the bearer token of a client. Its fields are private: nothing that prints the client can reach it. */
export class AccessTokens {
  readonly #source: AccessTokenSource | undefined
  #kept: { readonly token: string; readonly expiresAt: number | undefined } | undefined
  #pending: Renewal | undefined
  #renewals = 0
  /** The renewal that the newest token came from. */
  #newest = 0
  #recent: readonly string[] = []

  /** @param accessToken - As `clientSettings` gives it. */
  constructor(accessToken: string | AccessTokenSource) {
    if (typeof accessToken === 'function') this.#source = accessToken
    else this.#keep(accessToken, undefined)
  }

  /** Whether a refused token can be replaced by another. */
  get renewable(): boolean {
    return this.#source !== undefined
  }

  /** The tokens of late, newest first: what no error may show. */
  get recent(): readonly string[] {
    return this.#recent
  }

  /** The token to send, where it is at hand and does not expire on its way. */
  get kept(): string | undefined {
    const kept = this.#kept
    const isFresh = kept?.expiresAt === undefined || Date.now() < kept.expiresAt - RENEW_BEFORE_MS
    return isFresh ? kept?.token : undefined
  }

  /**
   * The token to send. Concurrent calls share one call of the source.
   *
   * @throws Failure when the source threw or gave nothing usable; `TIME_IS_UP` or the signal's reason as `within` does.
   */
  async get(remainingMs: number, signal: AbortSignal | undefined): Promise<string> {
    const { kept } = this
    if (kept !== undefined) return kept
    // Where calls never cease, somebody always waits: one call of the source that hangs must not be joined for ever.
    const isStuck = this.#pending !== undefined && performance.now() - this.#pending.startedAt >= LONGEST_RENEWAL_MS
    const renewal = this.#pending === undefined || isStuck ? this.#renew() : this.#pending
    this.#pending = renewal
    renewal.waiting++
    try {
      return await within(remainingMs, signal, () => renewal.token)
    } finally {
      // Drop the pending call once nobody waits for it, so that the next caller asks again: a source that never settles
      // must not hold the calls to come. While one waits, all others join it: a refresh token may be good for one use.
      if (--renewal.waiting === 0 && this.#pending === renewal) this.#pending = undefined
    }
  }

  /** Forgets a token that the service refused, unless a concurrent call has renewed it already. */
  refuse(token: string): void {
    if (this.#source !== undefined && this.#kept?.token === token) this.#kept = undefined
  }

  #renew(): Renewal {
    const serial = ++this.#renewals
    // Called as a plain function: as a method, it would get hold of this object.
    const source = this.#source as AccessTokenSource
    // The source runs in a later turn: one that uses this very client finds `#pending` already set.
    const token = Promise.resolve()
      .then(() => source())
      .then(
        (answer) => {
          const token = bearerToken(answer)
          if (token === undefined) {
            throw tokenFailure(`the access token source gave ${nameOf(answer)}; it ${TOKEN_RULE}`)
          }
          // Kept also when everyone has given up: a slow source would else never serve a hasty caller. But what was
          // asked for earlier and comes later is no newer.
          // Stryker disable next-line EqualityOperator: no two have the same serial
          if (serial > this.#newest) {
            this.#newest = serial
            this.#keep(token, expiryOf(token))
          }
          return token
        },
        (error: unknown) => {
          throw tokenFailure('the access token source failed', safeCause(error, this.#recent))
        },
      )
    // Every caller may have gone by the time it fails.
    token.catch(() => undefined)
    return { token, startedAt: performance.now(), waiting: 0 }
  }

  #keep(token: string, expiresAt: number | undefined): void {
    this.#kept = { token, expiresAt }
    this.#recent = [token, ...this.#recent.filter((other) => other !== token)].slice(0, REMEMBERED_TOKENS)
  }
}

/** The time in the token's `exp`, in milliseconds since 1970. `undefined` for a token that shows none. */
function expiryOf(token: string): number | undefined {
  const { exp } = claimsOf(token)
  // Stryker disable next-line ConditionalExpression: what is no number is not finite; the first half is for the compiler
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined
}

/** Who issued the token, and to whom, where it shows that. */
export function identityOf(token: string): { issuer: string | null; subject: string | null } {
  const { iss, sub } = claimsOf(token)
  return { issuer: typeof iss === 'string' ? iss : null, subject: typeof sub === 'string' ? sub : null }
}

/** What the token says of itself, unverified: nothing, where it is no JWT. */
function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token)
  } catch {
    return {}
  }
}

/** What a message says of a token that was refused and had expired; of any other, nothing. */
export function expiryHint(token: string): string {
  const expiresAt = expiryOf(token)
  if (expiresAt === undefined || expiresAt > Date.now()) return ''
  const date = new Date(expiresAt)
  return `; the token had expired${Number.isNaN(date.getTime()) ? '' : ` at ${date.toISOString()}`}`
}

const nameOf = (value: unknown): string =>
  typeof value === 'string'
    ? value.trim() === ''
      ? 'an empty string'
      : 'an unusable string'
    : `a value of type ${typeof value}`

function tokenFailure(what: string, cause?: Error): Failure {
  // Stryker disable next-line StringLiteral: what counts is that it is none of the kinds that were sent
  return new Failure('no_token', (context) => {
    const detail = cause === undefined || cause.message === '' ? '' : `: ${cause.message}`
    return new AccessTokenError(`${context.operation}: ${what}${detail}`, { ...context, cause })
  })
}
