import { identifier } from '../schemas/fields.ts'
import {
  copyOfOptions,
  isBoolean,
  listOf,
  type OptionProblem,
  type OptionRule,
  type OptionRules,
  optional,
  optionProblems,
} from '../shared/options.ts'
import { isRecord, typeName } from '../shared/types.ts'
import { Refusal } from './refusal.ts'
import { fits } from './schema-rule.ts'

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

const GRANT: OptionRules<TokenGrant> = {
  organization: optional(fits(identifier)),
  campaigns: optional(listOf(fits(identifier))),
  expired: optional(isBoolean),
}

/** The rule of the option. Nothing it says names a token. */
export const areTokens: OptionRule = (value) => {
  if (!Array.isArray(value) && !isRecord(value))
    return `must be a list of tokens, or grants by token, got ${typeName(value)}`
  const tokens: unknown[] = Array.isArray(value) ? Array.from(value) : Object.keys(value)
  const usable = tokens.every((token) => typeof token === 'string' && /^[^\s,]+$/.test(token))
  if (!usable) return 'must be non-empty strings without white space or commas'
  return Array.isArray(value)
    ? undefined
    : Object.values(value).flatMap((grant): OptionProblem[] => optionProblems(grant, GRANT))
}

/** The tokens as they are now, with what each may do. */
export function ownTokens(tokens: TokenOptions | undefined): TokenOptions | undefined {
  if (tokens === undefined || isList(tokens)) return tokens?.slice()
  const own = copyOfOptions(tokens, {})
  return isRecord(own) ? Object.fromEntries(Object.entries(own).map(([token, grant]) => [token, ownGrant(grant)])) : own
}

function ownGrant(grant: TokenGrant): TokenGrant {
  const own = copyOfOptions(grant, GRANT)
  return Array.isArray(own?.campaigns) ? { ...own, campaigns: Array.from(own.campaigns) } : own
}

const EVERYTHING: TokenGrant = {}
const BEARER = /^Bearer +([^\s,]+) *$/i

/** Decides what the sender of an Authorization header may do. The token itself is never kept or named. */
export class Authenticator {
  readonly #grants: ReadonlyMap<string, TokenGrant> | undefined

  constructor(tokens: TokenOptions | undefined) {
    if (tokens === undefined) return
    this.#grants = new Map(
      isList(tokens) ? tokens.map((token) => [token, EVERYTHING] as const) : Object.entries(tokens),
    )
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
