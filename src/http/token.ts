import type { JWTPayload } from 'jose'
import { decodeJwt } from 'jose/jwt/decode'
import { AccessTokenError } from '../errors.ts'
import type { AccessTokenSource } from '../options.ts'
import { bearerToken, TOKEN_RULE, warnOfShortSecret } from '../settings/secrets.ts'
import { holdProcess } from '../shared/timers.ts'
import { Failure } from './failure.ts'
import { safeCause, spellingsOf } from './redact.ts'
import { within } from './timeout.ts'

/** A token is renewed this long before it expires. */
const RENEW_BEFORE_MS = 30_000
/** A pending call of the token source is abandoned after this time. */
const MAX_RENEWAL_MS = 30_000
/** How many recent tokens are redacted: errors may quote earlier ones. */
const MAX_RECENT_TOKENS = 8

/** Holds the bearer token of a client. Its fields are private, so nothing that prints the client shows them. */
export class AccessTokens {
  readonly #source: AccessTokenSource | undefined
  readonly #warns: boolean
  #kept: { readonly token: string; readonly expiresAt: number | undefined } | undefined
  #pending: Promise<string> | undefined
  #renewals = 0
  /** The number of the renewal that the kept token came from. */
  #newest = 0
  #recent: readonly string[] = []
  #spellings: readonly RegExp[] = []

  /** @param warns - whether to warn of a token that is too short to be redacted */
  constructor(accessToken: string | AccessTokenSource, warns: boolean) {
    this.#warns = warns
    if (typeof accessToken === 'function') this.#source = accessToken
    else this.#keep(accessToken)
  }

  /** Whether a refused token can be replaced. */
  get renewable(): boolean {
    return this.#source !== undefined
  }

  /** The spellings of the recent tokens, which no error may show. */
  get secrets(): readonly RegExp[] {
    return this.#spellings
  }

  /** The token to send, if there is one that does not expire within the next 30 s. */
  get kept(): string | undefined {
    const kept = this.#kept
    const isFresh = kept?.expiresAt === undefined || Date.now() < kept.expiresAt - RENEW_BEFORE_MS
    return isFresh ? kept?.token : undefined
  }

  /**
   * Returns the token to send. Concurrent calls share one call of the source.
   *
   * @throws Failure when the source failed or took longer than 30 s; otherwise as `within` rejects
   */
  async get(remainingMs: number, signal: AbortSignal | undefined): Promise<string> {
    const { kept } = this
    if (kept !== undefined) return kept
    const pending = this.#pending ?? this.#renew()
    return await within(remainingMs, signal, () => pending)
  }

  /** Forgets a token that the service refused, unless another call has renewed it already. */
  refuse(token: string): void {
    if (this.#source !== undefined && this.#kept?.token === token) this.#kept = undefined
  }

  #renew(): Promise<string> {
    const abandoned = new AbortController()
    const pending = new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(tokenFailure(`the access token source gave no token within ${MAX_RENEWAL_MS / 1_000} s`))
        abandoned.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
      }, MAX_RENEWAL_MS)
      // Waiting calls keep the process alive. A token request that no call waits for must not.
      holdProcess(timer, false)
      this.#ask(abandoned.signal)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })
    const forget = (): void => {
      if (this.#pending === pending) this.#pending = undefined
    }
    this.#pending = pending
    // Also handles the rejection, since every caller may have stopped waiting.
    pending.then(forget, forget)
    return pending
  }

  async #ask(signal: AbortSignal): Promise<string> {
    const serial = ++this.#renewals
    // Called without `this`, and only after `#pending` is set: the source may itself call this client.
    const source = this.#source as AccessTokenSource
    await undefined
    let answer: unknown
    try {
      answer = await source({ signal })
    } catch (error) {
      throw tokenFailure('the access token source failed', safeCause(error, this.#spellings))
    }
    const token = bearerToken(answer)
    if (token === undefined) throw tokenFailure(`the access token source gave ${nameOf(answer)}; it ${TOKEN_RULE}`)
    // The late token of an abandoned renewal is still usable, but never replaces a newer one.
    if (serial > this.#newest) {
      this.#newest = serial
      this.#keep(token)
    }
    return token
  }

  #keep(token: string): void {
    this.#kept = { token, expiresAt: this.#source && expiryOf(token) }
    if (this.#recent[0] === token) return
    if (this.#warns) warnOfShortSecret(token)
    this.#recent = [token, ...this.#recent.filter((other) => other !== token)].slice(0, MAX_RECENT_TOKENS)
    this.#spellings = this.#recent.flatMap(spellingsOf)
  }
}

/** The time in the token's `exp`, in milliseconds since 1970. `undefined` if there is none. */
function expiryOf(token: string): number | undefined {
  const { exp } = claimsOf(token)
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined
}

/** Returns issuer and subject of a JWT; `null` for those it does not hold. */
export function identityOf(token: string): { issuer: string | null; subject: string | null } {
  const { iss, sub } = claimsOf(token)
  return { issuer: typeof iss === 'string' ? iss : null, subject: typeof sub === 'string' ? sub : null }
}

/** Returns the unverified claims of a token; none if it is not a JWT. */
function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token)
  } catch {
    return {}
  }
}

/** Returns a hint for the error message of a refused token, if the token had expired. */
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
  return new Failure('no_token', (context) => {
    const detail = cause === undefined || cause.message === '' ? '' : `: ${cause.message}`
    return new AccessTokenError(`${context.operation}: ${what}${detail}`, { ...context, cause })
  })
}
