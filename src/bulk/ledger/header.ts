import type { ClientTarget } from '../../shared/client-internals.ts'
import { isText, type OptionRule } from '../../shared/options.ts'

/** The beginning of a ledger. A run that continues it must have the same. */
export interface LedgerHeader {
  /** The name of the run. */
  readonly run: string
  /** Where the awards go; unknown where the client is not a `CampaignClient`. */
  readonly target: ClientTarget | undefined
}

/** Fits an index of PostgreSQL, whatever the characters. */
const MAX_RUN_LENGTH = 500

/** The rule for the name of a run. */
export const isRunName: OptionRule = (value) => {
  const problem = isText(value)
  if (problem !== undefined) return problem
  const name = value as string
  if (name.length > MAX_RUN_LENGTH) return `must have at most ${MAX_RUN_LENGTH} characters, got ${name.length}`
  return name.includes('\0') ? 'must not hold U+0000' : undefined
}

/** Why a ledger with the header `begun` can't be used for `wanted`; undefined when it can. */
export function headerConflict(begun: LedgerHeader, wanted: LedgerHeader): string | undefined {
  if (begun.run !== wanted.run) {
    return `it belongs to the run ${quoted(begun.run)}, and this is the run ${quoted(wanted.run)}`
  }
  // Nothing to compare with: the client is not a CampaignClient.
  if (begun.target === undefined || wanted.target === undefined) return undefined
  for (const [name, words] of TARGET) {
    const before = begun.target[name]
    const now = wanted.target[name]
    if (before !== now) {
      return `it was begun for another ${words}: ${shown(before)}, and the client now has ${shown(now)}`
    }
  }
  return undefined
}

const TARGET = [
  ['address', 'service'],
  ['issuer', "issuer ('iss') of the access token"],
  ['subject', "subject ('sub') of the access token"],
] as const

const quoted = (text: string): string => JSON.stringify(text)
const shown = (value: string | null): string => (value === null ? 'none' : quoted(value))
