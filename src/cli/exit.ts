/** What the command ends with. Documented in docs/command.md: scripts rely on it. */
export const EXIT = {
  done: 0,
  /** Some rows were not awarded, a signature is wrong, or a result could not be written. */
  notAll: 1,
  /** Wrong flags, files or environment; nothing was sent. */
  usage: 2,
  refused: 3,
  unreachable: 4,
  /** A write that may have been applied. */
  unknownOutcome: 5,
  /** A fault of the command itself, by the name sysexits.h has for it. */
  internal: 70,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends the command with one clear sentence for its user. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode
  /** A stable name of what went wrong, for `--json`. */
  readonly code: string
  /** What to do about it. */
  readonly advice: string | undefined
  /** What there is of a result all the same. */
  readonly result: Readonly<Record<string, unknown>> | undefined
  /** What it is in detail, a line each. */
  readonly details: readonly string[]

  constructor(
    exitCode: ExitCode,
    code: string,
    message: string,
    advice?: string,
    result?: Readonly<Record<string, unknown>>,
    details: readonly string[] = [],
  ) {
    super(message)
    this.exitCode = exitCode
    this.code = code
    this.advice = advice
    this.result = result
    this.details = details
  }
}

/** Something wrong with what the user gave: nothing was sent. */
export const usageFailure = (message: string, advice?: string): CommandFailure =>
  new CommandFailure(EXIT.usage, 'usage', message, advice)
