import * as z from 'zod/mini'
import { identifier } from '../schemas/fields.ts'
import { isRecord, typeName } from '../shared/types.ts'
import { readBySchema, strictFields } from './read-options.ts'
import { Refusal } from './refusal.ts'

/** The permissions of a token. */
export interface TokenGrant {
  /** The token's organization; it may use no other's campaigns. @defaultValue every organization */
  organization?: string | undefined
  /** The campaigns it may use. @defaultValue all of its organization */
  campaigns?: readonly string[] | undefined
  /** Whether the token has expired, which is answered with 401. @defaultValue false */
  expired?: boolean | undefined
}

/** The tokens that a service accepts: a list of tokens with all permissions, or the permissions of each token. */
export type TokenOptions = readonly string[] | Readonly<Record<string, TokenGrant>>

const grants = z.object({
  tokens: strictFields<TokenGrant>({
    organization: z.optional(identifier),
    campaigns: z.optional(z.array(identifier)),
    expired: z.optional(z.boolean()),
  }),
})

/**
 * Reads the `tokens` option. No message contains a token.
 *
 * @throws TypeError when the option is wrong
 */
export function readTokens(caller: string, tokens: unknown): ReadonlyMap<string, TokenGrant> | undefined {
  if (tokens === undefined) return undefined
  if (!Array.isArray(tokens) && !isRecord(tokens)) {
    throw new TypeError(`${caller}: tokens must be a list of tokens, or grants by token, got ${typeName(tokens)}`)
  }
  const entries = Array.isArray(tokens) ? Array.from(tokens, (token) => [token, {}] as const) : Object.entries(tokens)
  return new Map(
    entries.map(([token, grant]) => {
      if (typeof token !== 'string' || !/^[^\s,]+$/.test(token)) {
        throw new TypeError(`${caller}: tokens must be non-empty strings without white space or commas`)
      }
      return [token, readBySchema(caller, grants, { tokens: grant }).tokens]
    }),
  )
}

const EVERYTHING: TokenGrant = {}
const BEARER = /^Bearer +([^\s,]+) *$/i

/** Returns the permissions for an Authorization header. */
export class Authenticator {
  readonly #grants: ReadonlyMap<string, TokenGrant> | undefined

  /** @param grants - the permissions by token; without them any token has all permissions */
  constructor(grants: ReadonlyMap<string, TokenGrant> | undefined) {
    this.#grants = grants
  }

  /** @throws Refusal (401) when the token is missing, unknown or expired */
  authenticate(authorization: string | null): TokenGrant {
    const token = BEARER.exec(authorization ?? '')?.[1]
    if (token === undefined) throw unauthorized('no bearer token in the Authorization header')
    if (!this.#grants) return EVERYTHING
    const grant = this.#grants.get(token)
    if (!grant) throw unauthorized('the bearer token is not one of `tokens`')
    if (grant.expired) throw unauthorized('the bearer token has expired')
    return grant
  }
}

const unauthorized = (reason: string): Refusal =>
  new Refusal({ status: 401, reason, headers: { 'www-authenticate': 'Bearer' } })
