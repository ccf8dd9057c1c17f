/** The exit codes of the command: part of its public contract. docs/command.md lists them. */
export const EXIT = {
  done: 0,
  /** Something failed, or a result could not be written. */
  incomplete: 1,
  usage: 2,
  refused: 3,
  unreachable: 4,
  unknownOutcome: 5,
  /** EX_SOFTWARE of sysexits.h. */
  internal: 70,
  /** Ended by SIGINT, as a shell reports it. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The meaning of each exit code, for the help. */
export const EXIT_CODES_HELP = `Exit codes:
  ${EXIT.done}    done
  ${EXIT.incomplete}    some rows were not awarded, a signature is wrong, check found a difference,
       or your receiver refused a message
  ${EXIT.usage}    wrong flags, files or environment, or declined: nothing was sent
  ${EXIT.refused}    refused by the service
  ${EXIT.unreachable}    the service or your receiver did not respond, the service has responded with 429 only,
       or too few messages arrived
  ${EXIT.unknownOutcome}    the outcome of a write is unknown: it may have been applied
  ${EXIT.internal}   a bug in the command
  ${EXIT.interrupted}  interrupted by Ctrl-C`

/** Returns the exit code for an error code, if the outcome is known. */
export function exitCodeOf(code: string): ExitCode {
  if (code === 'configuration' || code === 'access_token' || code === 'invalid_request') return EXIT.usage
  // A 429 is not a refusal: the same command may succeed later.
  return code === 'network' || code === 'timeout' || code === 'rate_limited' ? EXIT.unreachable : EXIT.refused
}
