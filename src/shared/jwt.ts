import type { JWTPayload } from 'jose'
import { decodeJwt } from 'jose/jwt/decode'

/** Returns the unverified claims of a token; an empty object if it is not a JWT. */
function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token)
  } catch {
    return {}
  }
}

/** Returns issuer and subject of a JWT; `null` if absent. */
export function identityOf(token: string): { issuer: string | null; subject: string | null } {
  const { iss, sub } = claimsOf(token)
  return { issuer: claimText(iss), subject: claimText(sub) }
}

/** Returns a claim as text. Some issuers write a number as `sub`, although RFC 7519 asks for text. */
function claimText(claim: unknown): string | null {
  if (typeof claim === 'number') return String(claim)
  return typeof claim === 'string' ? claim : null
}

/** Returns the `exp` of a token in milliseconds since 1970; `undefined` if it has none. */
export function expiryOf(token: string): number | undefined {
  const { exp } = claimsOf(token)
  return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined
}
