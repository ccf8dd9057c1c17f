import { ConfigurationError } from '../errors/client-errors.ts'
import type { AccessTokenSource } from '../options.ts'
import { bearerToken, type ClientSettings, TOKEN_RULE } from '../settings.ts'
import { type Account, hasClaim, shownClaim, textOfClaim } from '../shared/client-internals.ts'
import { expiryOf, identityOf } from '../shared/jwt.ts'
import { startTimer, TIMED_OUT, timeoutReason, withTimeout } from '../shared/timers.ts'
import { Failure, nextSignalOf, noTokenInTime, tokenFailure } from './failure.ts'
import { partsOf, type Secrets, safeCause, warnOfShortSecret } from './redact.ts'

/** A token is renewed this long before it expires. */
const RENEW_BEFORE_MS = 30_000
/** A call may send a new token for at least this time, even if it expires soon. */
const MIN_USE_MS = 1_000
/** A pending request to the token source is abandoned after this time. */
const MAX_REQUEST_MS = 30_000
/** A call waits this long for the request of another call. Then it makes a second request. */
const MAX_JOIN_MS = 10_000
const MAX_REQUESTS = 2
/** The longest time between two checks of a waiting call whether there is a token. */
const CHECK_MS = 250
/** The number of recent tokens that are redacted. Errors may contain earlier tokens. */
const MAX_RECENT_TOKENS = 8

/** Why the token source gave no token. Each waiting call makes its own error of it. */
interface TokenProblem {
  readonly problem: string
  readonly cause?: Error | undefined
  /** A signal of Next.js that the source has thrown. The calls throw it unchanged. */
  readonly nextSignal?: unknown
}

const ABANDONED: TokenProblem = {
  problem: `the access token source gave no token within ${MAX_REQUEST_MS / 1_000} s`,
}

interface CachedToken {
  readonly token: string
  readonly expiresAt: number | undefined
  /** A value of `performance.now()`. */
  readonly storedAt: number
}

/** A pending call of the token source. */
interface TokenRequest {
  readonly startedAt: number
  /** Whether the source was told that its newest token was refused. */
  readonly isForced: boolean
  /** `undefined` once the request is abandoned. In Workers, it never settles if the call that made the request was abandoned. */
  readonly result: Promise<string | TokenProblem | undefined>
}

/**
 * Stores and renews the bearer token of a client. Its fields are private, so printing a client does not show the token.
 *
 * Calls share requests to the source, but no call depends on the request of another call: in Workers, a promise that is
 * pending when a request ends never settles. Each call waits by its own timer, and abandons a request after 30 s.
 */
export class AccessTokens {
  readonly #settings: Pick<ClientSettings, 'baseUrl' | 'fetch'>
  readonly #source: AccessTokenSource | undefined
  #cached: CachedToken | undefined
  /** The newest token of the source, if the service refused it. */
  #refused: string | undefined
  /** The pending requests, the newest last. */
  #requests: readonly TokenRequest[] = []
  #renewals = 0
  /** The number of the renewal that gave the cached token. */
  #cachedRenewal = 0
  #recent: readonly string[] = []
  #secrets: Secrets = []

  constructor(settings: Pick<ClientSettings, 'accessToken' | 'baseUrl' | 'fetch'>) {
    this.#settings = settings
    const { accessToken } = settings
    if (typeof accessToken === 'function') this.#source = accessToken
    else this.#store(accessToken)
  }

  /** Whether a refused token can be replaced. */
  get isRenewable(): boolean {
    return this.#source !== undefined
  }

  /** The recent tokens, which are redacted from errors. */
  get secrets(): Secrets {
    return this.#secrets
  }

  /** The cached token, unless it expires within the next 30 s. */
  get cached(): string | undefined {
    const cached = this.#cached
    const isFresh = cached?.expiresAt === undefined || Date.now() < cached.expiresAt - RENEW_BEFORE_MS
    return isFresh ? cached?.token : undefined
  }

  /**
   * Returns the token to send after a wait: the cached token, or `token` if it is less than a second old. Otherwise a call would
   * never have a token if the source's tokens are valid for less than 30 s.
   */
  afterWait(token: string): string | undefined {
    const newest = this.#cached
    const isNew = newest?.token === token && performance.now() - newest.storedAt < MIN_USE_MS
    return this.cached ?? (isNew ? token : undefined)
  }

  /**
   * Returns the token to send, or the failure of the source. Concurrent calls share a request to the source.
   *
   * @param operation - the method to name in errors
   * @param remainingMs - the rest of `totalTimeoutMs`
   * @throws the reason of `signal`, or a signal of Next.js that the source has thrown
   */
  async get(
    operation: string,
    { totalTimeoutMs, signal }: { readonly totalTimeoutMs: number; readonly signal: AbortSignal | undefined },
    remainingMs = totalTimeoutMs,
  ): Promise<string | Failure> {
    const { cached } = this
    if (cached !== undefined) return cached
    const token = await this.#renewed(remainingMs, signal)
    if (token === TIMED_OUT) return noTokenInTime(operation, totalTimeoutMs)
    if (typeof token === 'string') return token
    if (token.nextSignal !== undefined) throw token.nextSignal
    return tokenFailure(operation, token.problem, token.cause)
  }

  /** Removes a token that the service refused, unless another call has already renewed it. */
  refuse(token: string): void {
    if (this.#source === undefined || this.#cached?.token !== token) return
    this.#cached = undefined
    this.#refused = token
  }

  /**
   * Waits for the newest request, or makes one. Does not wait for a request from before the newest token was refused: a source
   * with a cache may return the refused token.
   */
  async #renewed(
    remainingMs: number,
    signal: AbortSignal | undefined,
  ): Promise<string | TokenProblem | typeof TIMED_OUT> {
    const start = performance.now()
    const until = start + remainingMs
    for (;;) {
      const now = performance.now()
      this.#requests = this.#requests.filter(({ startedAt }) => now - startedAt < MAX_REQUEST_MS)
      const newest = this.#requests.at(-1)
      const canJoin = newest !== undefined && (newest.isForced || this.#refused === undefined)
      const asksAt = this.#requests.length >= MAX_REQUESTS ? Infinity : canJoin ? start + MAX_JOIN_MS : now
      const isOwn = newest === undefined || now >= asksAt
      const request = isOwn ? this.#ask() : newest
      const checkAt = isOwn ? until : Math.min(now + CHECK_MS, until, asksAt, newest.startedAt + MAX_REQUEST_MS)
      const result = await withTimeout(request.result, Math.ceil(checkAt - now), signal)
      if (isOwn && result === undefined) return ABANDONED
      if (result !== TIMED_OUT && result !== undefined && !this.#isRefused(result, request.isForced)) return result
      const { cached } = this
      if (cached !== undefined) return cached
      if (performance.now() >= until) return TIMED_OUT
    }
  }

  /** Whether a source that was not told to bypass its cache has returned the refused token. */
  #isRefused(result: string | TokenProblem, isForced: boolean): boolean {
    return result === this.#refused && !isForced
  }

  #ask(): TokenRequest {
    const abandoned = new AbortController()
    const isForced = this.#refused !== undefined
    const result = new Promise<string | TokenProblem | undefined>((resolve) => {
      // Waiting calls keep the process alive. The request alone must not.
      const stopTimer = startTimer(MAX_REQUEST_MS, () => {
        resolve(undefined)
        abandoned.abort(timeoutReason())
      })
      void this.#callSource(abandoned.signal, isForced).then((token) => {
        stopTimer()
        resolve(token)
      })
    }).finally(() => {
      this.#requests = this.#requests.filter((other) => other !== request)
    })
    const request = { startedAt: performance.now(), isForced, result }
    this.#requests = [...this.#requests, request]
    return request
  }

  async #callSource(signal: AbortSignal, forceRefresh: boolean): Promise<string | TokenProblem> {
    const renewal = ++this.#renewals
    const source = this.#source as AccessTokenSource
    // Wait until the request is in `#requests`: the source may itself call this client.
    await undefined
    let result: unknown
    try {
      result = await source({ signal, forceRefresh })
    } catch (error) {
      return {
        problem: 'the access token source failed',
        cause: safeCause(error, this.#secrets),
        nextSignal: nextSignalOf(error),
      }
    }
    const token = bearerToken(result)
    if (token === undefined) {
      return { problem: `the access token source returned ${shownResult(result)}; it ${TOKEN_RULE}` }
    }
    // A request may finish after a later one. Its token must not replace a newer one.
    if (renewal > this.#cachedRenewal && !this.#isRefused(token, forceRefresh)) {
      this.#cachedRenewal = renewal
      this.#store(token)
    }
    return token
  }

  #store(token: string): void {
    this.#refused = undefined
    this.#cached = { token, expiresAt: this.#source && expiryOf(token), storedAt: performance.now() }
    if (this.#recent[0] === token) return
    warnOfShortSecret(token, this.#settings)
    this.#recent = [token, ...this.#recent.filter((other) => other !== token)].slice(0, MAX_RECENT_TOKENS)
    this.#secrets = this.#recent.flatMap(partsOf)
  }
}

/** Returns a hint for the error message of a refused token; empty unless the token had expired. */
export function expiryHint(token: string): string {
  const expiresAt = expiryOf(token)
  if (expiresAt === undefined || expiresAt > Date.now()) return ''
  const date = new Date(expiresAt)
  return `; the token had expired${Number.isNaN(date.getTime()) ? '' : ` at ${date.toISOString()}`}`
}

const shownResult = (value: unknown): string =>
  typeof value === 'string'
    ? value.trim() === ''
      ? 'an empty string'
      : 'an unusable string'
    : `a value of type ${typeof value}`

const CLAIMS = [
  ['issuer', 'iss'],
  ['subject', 'sub'],
] as const

const isOpaque = ({ issuer, subject }: Account): boolean => !hasClaim(issuer) && !hasClaim(subject)

/**
 * Returns the failure of an attempt whose token belongs to another account; `undefined` if it may be sent. A token that shows
 * neither `iss` nor `sub` is not compared.
 */
export function accountFailure(operation: string, account: Account, token: string): Failure | undefined {
  const current = identityOf(token)
  if (isOpaque(account) || isOpaque(current)) return undefined
  const changes = CLAIMS.filter(([name]) => textOfClaim(current[name]) !== textOfClaim(account[name])).map(
    ([name, claim]) => `'${claim}' was ${shownClaim(account[name])} and is now ${shownClaim(current[name])}`,
  )
  if (changes.length === 0) return undefined
  const message = `${operation}: not sent, because the access token changed its account: ${changes.join('; ')}`
  return new Failure(
    'no_token',
    new ConfigurationError(`${message}. Use tokens of one account in a run`, { operation }),
  )
}
