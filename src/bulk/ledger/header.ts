import type { ClientTarget } from '../../shared/client-internals.ts'
import { isText, type OptionRule } from '../../shared/option-checks.ts'

/** The header of a ledger. Every run that continues the ledger must have the same header. */
export interface LedgerHeader {
  /** The name of the run. */
  readonly run: string
  /** The service of the awards and the account of the token; `undefined` if the client is not a `CampaignClient`. */
  readonly target: ClientTarget | undefined
}

/** A name of this length fits into an index of PostgreSQL. */
const MAX_RUN_LENGTH = 500

export const isRunName: OptionRule = (value) => {
  const problem = isText(value)
  if (problem !== undefined) return problem
  const name = value as string
  if (name.length > MAX_RUN_LENGTH) return `must have at most ${MAX_RUN_LENGTH} characters, got ${name.length}`
  return name.includes('\0') ? 'must not contain U+0000' : undefined
}

/** Returns why a run with the header `wanted` can't use the ledger; `undefined` if it can. */
export function headerConflict(existing: LedgerHeader, wanted: LedgerHeader): string | undefined {
  if (existing.run !== wanted.run) {
    return `it belongs to the run ${quoted(existing.run)}, and this is the run ${quoted(wanted.run)}`
  }
  if (existing.target === undefined || wanted.target === undefined) return undefined
  for (const [name, label] of TARGET_FIELDS) {
    const recorded = existing.target[name]
    const current = wanted.target[name]
    if (recorded !== current) {
      return `it belongs to another ${label}: ${shown(recorded)}, and the client now has ${shown(current)}`
    }
  }
  return undefined
}

const TARGET_FIELDS = [
  ['address', 'service'],
  ['issuer', "issuer ('iss') of the access token"],
  ['subject', "subject ('sub') of the access token"],
] as const

const quoted = (text: string): string => JSON.stringify(text)
const shown = (value: string | null): string => (value === null ? 'none' : quoted(value))
