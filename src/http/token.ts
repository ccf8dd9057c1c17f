import { decodeJwt } from 'jose/jwt/decode'
import { AccessTokenError } from '../errors.ts'
import type { AccessTokenSource } from '../options.ts'
import { bearerToken, TOKEN_RULE } from '../shared/bearer-token.ts'
import { Failure } from './failure.ts'
import { safeCause } from './redact.ts'
import { within } from './timeout.ts'

/** A token is renewed this long before it expires, so that it does not expire on its way. */
const RENEW_BEFORE_MS = 30_000

/** Holds the bearer token of a client. Its fields are private: nothing that prints the client can reach it. */
export class AccessTokens {
  readonly #source: AccessTokenSource | undefined
  #kept: { readonly token: string; readonly expiresAt: number | undefined } | undefined
  #pending: Promise<string> | undefined

  /** @param accessToken - As `clientSettings` gives it. */
  constructor(accessToken: string | AccessTokenSource) {
    if (typeof accessToken === 'function') this.#source = accessToken
    else this.#kept = { token: accessToken, expiresAt: undefined }
  }

  /** Whether a refused token can be replaced by another. */
  get renewable(): boolean {
    return this.#source !== undefined
  }

  /**
   * The token to send. Concurrent calls share one call of the source.
   *
   * @throws Failure when the source threw or gave nothing usable; `TIME_IS_UP` or the signal's reason as `within` does.
   */
  async get(remainingMs: number, signal: AbortSignal | undefined): Promise<string> {
    const kept = this.#kept
    if (kept !== undefined && (kept.expiresAt === undefined || Date.now() < kept.expiresAt - RENEW_BEFORE_MS)) {
      return kept.token
    }
    this.#pending ??= this.#renew()
    const pending = this.#pending
    try {
      return await within(remainingMs, signal, () => pending)
    } catch (reason) {
      // Whoever gives up, out of time or aborted, leaves the next call free to ask again: a source that never settles
      // must not hold the calls to come as well. Those that wait already go on waiting.
      if (this.#pending === pending) this.#pending = undefined
      throw reason
    }
  }

  /** Forgets a token that the service refused, unless a concurrent call has renewed it already. */
  refuse(token: string): void {
    if (this.#source !== undefined && this.#kept?.token === token) this.#kept = undefined
  }

  #renew(): Promise<string> {
    // The source runs in a later turn, so that one that throws at once finds `#pending` already set.
    const renewal: Promise<string> = Promise.resolve()
      .then(() => this.#source?.())
      .then(
        (answer) => {
          const token = bearerToken(answer)
          if (token === undefined)
            throw tokenFailure(`the access token source gave ${nameOf(answer)}; it ${TOKEN_RULE}`)
          // Kept also when everyone has given up: a slow source would else never serve a hasty caller.
          this.#kept = { token, expiresAt: expiryOf(token) }
          return token
        },
        (error: unknown) => {
          throw tokenFailure('the access token source failed', error)
        },
      )
      .finally(() => {
        if (this.#pending === renewal) this.#pending = undefined
      })
    // Every caller may have gone by the time it fails.
    renewal.catch(() => undefined)
    return renewal
  }
}

/** The time in the token's `exp`, in milliseconds since 1970. `undefined` for a token that shows none. */
function expiryOf(token: string): number | undefined {
  try {
    const { exp } = decodeJwt(token)
    return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined
  } catch {
    return undefined
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

function tokenFailure(what: string, thrown?: unknown): Failure {
  const cause = safeCause(thrown, [])
  return new Failure('no_token', (context) => {
    const detail = cause === undefined || cause.message === '' ? '' : `: ${cause.message}`
    return new AccessTokenError(`${context.operation}: ${what}${detail}`, { ...context, cause })
  })
}
