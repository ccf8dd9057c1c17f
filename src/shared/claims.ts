import type { ClientTarget } from './client-internals.ts'
import { toJsonLine } from './text.ts'

/** Stands for an issuer or a subject that a token does not have. */
const NONE = 'none'

/** Returns the text by which issuers or subjects are compared. A blank claim counts as absent. */
export const textOfClaim = (claim: string | null): string => (claim === null || claim.trim() === '' ? NONE : claim)

/** Whether a token has an issuer or a subject. */
export const hasClaim = (claim: string | null): claim is string => textOfClaim(claim) !== NONE

/** Formats an issuer or a subject for a message. */
export const shownClaim = (claim: string | null): string => (hasClaim(claim) ? toJsonLine(claim) : NONE)

const TARGET_PARTS = [
  ['address', 'base URL'],
  ['issuer', "token issuer ('iss')"],
  ['subject', "token subject ('sub')"],
] as const

/** Returns the parts in which two targets differ, each with its name for messages. */
export const differentParts = (one: ClientTarget, other: ClientTarget) =>
  TARGET_PARTS.filter(([part]) => textOfClaim(one[part]) !== textOfClaim(other[part]))
