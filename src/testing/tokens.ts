import { anything, type OptionRules, requireOptions } from '../shared/options.ts'
import { Refusal } from './refusal.ts'

/** What a token may do. */
export interface TokenGrant {
  /** The organization it belongs to: only that one's campaigns. Default: every organization. */
  organization?: string | undefined
  /** The campaigns it may use. Default: all of its organization. */
  campaigns?: readonly string[] | undefined
  /** Whether its time is over, which reads as 401. Default: false. */
  expired?: boolean | undefined
}

/** The tokens a service knows: a list of those that may do everything, or what each may do by token. */
export type TokenOptions = readonly string[] | Readonly<Record<string, TokenGrant>>

const EVERYTHING: TokenGrant = {}
const GRANT: OptionRules<TokenGrant> = { organization: anything, campaigns: anything, expired: anything }
const BEARER = /^Bearer +([^\s,]+) *$/i

/** Decides what the sender of an Authorization header may do. The token itself is never kept or named. */
export class Authenticator {
  readonly #grants: ReadonlyMap<string, TokenGrant> | undefined

  constructor(tokens: TokenOptions | undefined) {
    if (tokens === undefined) return
    this.#grants = new Map(
      isList(tokens) ? tokens.map((token) => [token, EVERYTHING] as const) : Object.entries(tokens),
    )
    for (const [token, grant] of this.#grants) {
      if (typeof token !== 'string' || !/^[^\s,]+$/.test(token)) {
        throw new TypeError('tokens: each must be a non-empty string without white space or commas')
      }
      requireOptions('tokens', grant, GRANT)
      if (grant.campaigns !== undefined && !Array.isArray(grant.campaigns)) {
        throw new TypeError('tokens: campaigns must be a list of campaign ids when given')
      }
    }
  }

  /** @throws Refusal (401) when the token is missing, unknown or expired. */
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

const isList = (tokens: TokenOptions): tokens is readonly string[] => Array.isArray(tokens)

const unauthorized = (reason: string): Refusal =>
  new Refusal({ status: 401, reason, headers: { 'www-authenticate': 'Bearer' } })
