import type { ClientTarget } from '../../shared/client-internals.ts'
import { isText, type OptionRule } from '../../shared/options.ts'

/** What a ledger begins with, and what whoever goes on with it must agree with. */
export interface LedgerHeader {
  /** The name of the run. */
  readonly run: string
  /** Where the awards go, as far as the client shows it. */
  readonly target: ClientTarget | undefined
}

/** What every index of PostgreSQL can hold, whatever the characters. */
const LONGEST_RUN = 500

/** For the name of a run, whichever ledger it is kept in. */
export const isRunName: OptionRule = (value) => {
  const problem = isText(value)
  if (problem !== undefined) return problem
  const name = value as string
  if (name.length > LONGEST_RUN) return `must have at most ${LONGEST_RUN} characters, got ${name.length}`
  return name.includes('\0') ? 'must not hold U+0000' : undefined
}

/** Why a ledger that began so can't be used for `wanted`, or undefined. */
export function headerConflict(begun: LedgerHeader, wanted: LedgerHeader): string | undefined {
  if (begun.run !== wanted.run) {
    return `it belongs to the run ${quoted(begun.run)}, and this is the run ${quoted(wanted.run)}`
  }
  // A client of another make shows nothing that could be compared.
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
