import * as z from 'zod/mini'
import type { ConfigurationError } from '../errors/client-errors.ts'
import { configurationError } from '../errors/read-options.ts'
import { identifier } from '../schemas/fields.ts'
import { isRecord, typeName } from '../shared/type-checks.ts'
import { HttpError } from './http/responses.ts'
import { readBySchema, strictFields } from './option-readers.ts'

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

const grants = z.object({
  tokens: strictFields<TokenGrant>({
    organization: z.optional(identifier),
    campaigns: z.optional(z.array(identifier)),
    expired: z.optional(z.boolean()),
  }),
})

/** Reads the `tokens` option. No error message contains a token. */
export function readTokens(caller: string, tokens: unknown): Grants {
  if (tokens === undefined) return undefined
  if (!Array.isArray(tokens) && !isRecord(tokens)) {
    throw refusal(caller, `must be a list of tokens, or an object of permissions by token, got ${typeName(tokens)}`)
  }
  const entries = Array.isArray(tokens) ? tokens.map((token) => [token, {}] as const) : Object.entries(tokens)
  return new Map(
    entries.map(([token, grant]) => {
      if (typeof token !== 'string' || !/^[^\s,]+$/.test(token)) {
        throw refusal(caller, 'must be non-empty strings without white space or commas')
      }
      return [token, readBySchema(caller, grants, { tokens: grant }).tokens]
    }),
  )
}

const refusal = (caller: string, message: string): ConfigurationError =>
  configurationError(caller, [{ path: ['tokens'], message }])

const BEARER = /^Bearer +([^\s,]+) *$/i

/** Returns the permissions for an Authorization header, or a 401 when the token is missing, unknown or expired. */
export function authenticate(authorization: string | null, grants: Grants): TokenGrant | HttpError {
  const token = BEARER.exec(authorization ?? '')?.[1]
  if (token === undefined) return unauthorized('no bearer token in the Authorization header')
  if (!grants) return {}
  const grant = grants.get(token)
  if (!grant) return unauthorized('the local service does not accept this bearer token: see `tokens`, or `dev --token`')
  return grant.expired ? unauthorized('the bearer token has expired') : grant
}

const unauthorized = (reason: string): HttpError =>
  new HttpError(401, reason, { headers: { 'www-authenticate': 'Bearer' } })
