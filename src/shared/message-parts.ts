/** The parts of an error's message, for the command: it names its own flags and gives its own advice. */
export interface MessageParts {
  /** What went wrong, without advice. */
  readonly text?: string
  /** On the error of a ledger of another target. */
  readonly rebind?: Readonly<{
    /** The values of `rebind.from` that move the ledger. */
    from: readonly [string, ...string[]]
    /** Whether `rebind` was given, with another value. */
    isWrong: boolean
  }>
  /** Whether the ledger is damaged or lost, and must be restored from a backup. */
  readonly isLedgerLost?: true
}

const partsByError = new WeakMap<Error, MessageParts>()

/** Adds the parts to an error. Printing the error does not show them. */
export function withParts<E extends Error>(error: E, parts: MessageParts): E {
  partsByError.set(error, parts)
  return error
}

/** Returns the parts of an error's message; `{}` if it has none. */
export const partsOf = (error: Error): MessageParts => partsByError.get(error) ?? {}
