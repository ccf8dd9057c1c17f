import { ConfigurationError } from '../errors/client-errors.ts'
import type { ClientSettings } from '../settings.ts'
import { type Account, type ClientInternals, hasClaim, shownClaim, textOfClaim } from '../shared/client-internals.ts'
import { identityOf } from '../shared/jwt.ts'
import { Failure } from './failure.ts'
import { guardIssues } from './request.ts'
import type { AccessTokens } from './tokens.ts'

/** Creates the methods of a client that `bulk` uses. */
export const createInternals = ({
  settings,
  tokens,
}: {
  settings: ClientSettings
  tokens: AccessTokens
}): ClientInternals => ({
  async target(operation, signal) {
    const token = await tokens.get(operation, { totalTimeoutMs: settings.totalTimeoutMs, signal })
    if (token instanceof Failure) throw Object.assign(token.error, { attempts: 0, outcome: 'not_applied' })
    return { address: settings.baseUrl, ...identityOf(token) }
  },
  maxRetries: settings.maxRetries,
  refusalsOfAward: (award) => guardIssues(settings.guard, award),
})

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
