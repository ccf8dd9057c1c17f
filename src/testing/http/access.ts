import * as z from 'zod/mini'
import type { OptionIssue } from '../../errors/option-checks.ts'
import { identifier } from '../../schemas/fields.ts'
import { isRecord, typeName } from '../../shared/type-checks.ts'
import { parseBySchema, strictFields } from '../option-readers.ts'
import { HttpError } from './messages.ts'

/** The permissions of a token. */
export interface TokenGrant {
  /** The organization whose campaigns the token has access to. @defaultValue every organization */
  organization?: string | undefined
  /** The campaigns that the token has access to. @defaultValue all campaigns of the organization */
  campaigns?: readonly string[] | undefined
  /** Whether the token has expired: the service responds with 401. @defaultValue false */
  expired?: boolean | undefined
}

/** The tokens that a service accepts: a list of tokens with all permissions, or the permissions of each token. */
export type TokenOptions = readonly string[] | Readonly<Record<string, TokenGrant>>

/** The permissions by token. If `undefined`, every token has all permissions. */
export type Grants = ReadonlyMap<string, TokenGrant> | undefined

const grantOfToken = z.object({
  tokens: strictFields<TokenGrant>({
    organization: z.optional(identifier),
    campaigns: z.optional(z.array(identifier)),
    expired: z.optional(z.boolean()),
  }),
})

/** Reads the `tokens` option. No issue contains a token. */
export function readTokens(tokens: unknown): { readonly grants: Grants; readonly issues: readonly OptionIssue[] } {
  if (tokens === undefined) return { grants: undefined, issues: [] }
  if (!Array.isArray(tokens) && !isRecord(tokens)) {
    const message = `must be a list of tokens, or an object of permissions by token, got ${typeName(tokens)}`
    return { grants: undefined, issues: [{ path: ['tokens'], message }] }
  }
  const entries = Array.isArray(tokens) ? tokens.map((token) => [token, {}] as const) : Object.entries(tokens)
  const isWrong = entries.some(([token]) => typeof token !== 'string' || !/^[^\s,]+$/.test(token))
  const read = entries.map(([token, grant]) => ({ token, ...parseBySchema(grantOfToken, { tokens: grant }) }))
  return {
    grants: new Map(read.map(({ token, data }) => [token, data?.tokens ?? {}])),
    issues: [
      ...(isWrong ? [{ path: ['tokens'], message: 'must be non-empty strings without white space or commas' }] : []),
      ...read.flatMap(({ issues }) => issues),
    ],
  }
}

const BEARER = /^Bearer +([^\s,]+) *$/i

/** Returns the token of an Authorization header, if it has one. */
export const bearerTokenOf = (authorization: string | null): string | undefined => BEARER.exec(authorization ?? '')?.[1]

/** Returns the permissions of a token, or a 401 when the token is missing, unknown or expired. */
export function authenticate(token: string | undefined, grants: Grants): TokenGrant | HttpError {
  if (token === undefined) return unauthorized('no bearer token in the Authorization header')
  if (!grants) return {}
  const grant = grants.get(token)
  if (!grant) return unauthorized('the local service does not accept this bearer token: see `tokens`, or `dev --token`')
  return grant.expired ? unauthorized('the bearer token has expired') : grant
}

const unauthorized = (reason: string): HttpError =>
  new HttpError(401, reason, { headers: { 'www-authenticate': 'Bearer' } })

/** The option `rateLimit` of the local service. */
export interface ServiceRateLimit {
  /** How many requests per second each token may send: more than 0, at most 1 000 000. */
  perSecond: number
}

/** Limits the requests of each token, on the service's clock. */
export class RateLimit {
  readonly #perSecond: number
  /** How many requests are allowed in each period of `#periodMs`. */
  readonly #count: number
  readonly #periodMs: number
  /** The times of the last `#count` admitted requests of each token, as a ring: `next` is the index of the oldest. */
  readonly #admitted = new Map<string, { readonly times: number[]; next: number }>()

  constructor({ perSecond }: ServiceRateLimit) {
    this.#perSecond = perSecond
    this.#count = Math.ceil(perSecond)
    this.#periodMs = (1_000 * this.#count) / perSecond
  }

  /** Admits a request, or returns its refusal with 429. */
  admit(token: string, now: number): HttpError | undefined {
    const admitted = this.#admitted.get(token) ?? { times: [], next: 0 }
    this.#admitted.set(token, admitted)
    const oldest = admitted.times[admitted.next] ?? -Infinity
    const waitMs = oldest + this.#periodMs - now
    // After a reset of the clock, the time may be in the future: it no longer counts.
    if (waitMs > 0 && oldest <= now) {
      const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
      const reason = `more than ${this.#perSecond} requests per second with this token: see \`rateLimit\`, or \`dev --rate-limit\``
      return new HttpError(429, reason, { headers: { 'retry-after': String(seconds) } })
    }
    admitted.times[admitted.next] = now
    admitted.next = (admitted.next + 1) % this.#count
    return undefined
  }

  clear(): void {
    this.#admitted.clear()
  }
}
