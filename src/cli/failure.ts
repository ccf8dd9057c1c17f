import { describeAt, type Issue } from '../shared/issue.ts'

import { EXIT, type ExitCode } from './exit-codes.ts'

interface FailureDetails {
  /** What to do about the failure. */
  readonly advice?: string | undefined
  /** The documentation of the error: a URL, or a path in the package. */
  readonly docsPath?: string | undefined
  /** Partial results, for `--json`. */
  readonly result?: Readonly<Record<string, unknown>>
  /** Lines to print above the message. */
  readonly lines?: readonly string[]
}

/** Ends the command with an exit code and an error message. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode
  /** A stable name of the failure, for `--json`. */
  readonly code: string
  readonly details: FailureDetails

  constructor(exitCode: ExitCode, code: string, message: string, details: FailureDetails = {}) {
    super(message)
    this.exitCode = exitCode
    this.code = code
    this.details = details
  }
}

/** The failure for wrong flags, files or environment: nothing was sent. */
export const usageFailure = (message: string, advice?: string): CommandFailure =>
  new CommandFailure(EXIT.usage, 'usage', message, { advice })

/** Describes wrong options. @param names - the variables and flags of the command, by option */
export const issuesText = (issues: readonly Issue[], names: Readonly<Record<string, string>> = {}): string =>
  issues
    .map(({ path: [option = '', ...inner], message }) =>
      describeAt([names[option] ?? option, ...inner].join('.'), message),
    )
    .join('; ')

/** The failure for a port or host that cannot be used. */
export function listenFailure({ code, message }: NodeJS.ErrnoException, port: number, host: string): CommandFailure {
  switch (code) {
    case 'EADDRINUSE':
      return usageFailure(
        `port ${port} is already in use`,
        'stop the program that uses it, or choose another port with --port (0: any free port)',
      )
    case 'EACCES':
      return usageFailure(`permission denied to listen on port ${port}`, 'choose a port above 1023 with --port')
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return usageFailure(`"${host}" is not an address of this machine`, 'omit --host to listen on 127.0.0.1')
    default:
      return usageFailure(`cannot listen on ${host}:${port}: ${code ?? message}`)
  }
}

/** The failure for a single write with an unknown outcome. */
export const unknownOutcomeFailure = (code: string, message: string, docsPath?: string): CommandFailure =>
  new CommandFailure(EXIT.unknownOutcome, code, message, { advice: UNKNOWN_OUTCOME_ADVICE, docsPath })

export const UNKNOWN_OUTCOME_ADVICE =
  'the write may have been applied: read the progress before you run the command again'

/** Advice by error code. */
export const ADVICE: Readonly<Record<string, string>> = {
  access_token: 'correct the file of CAMPAIGN_ACCESS_TOKEN_FILE',
  network: 'check CAMPAIGN_BASE_URL, and that the service is running',
  unauthorized: 'set a valid token in CAMPAIGN_ACCESS_TOKEN, or in the file of CAMPAIGN_ACCESS_TOKEN_FILE',
  access_denied: 'check the campaign ID, and that the campaign belongs to the organization of the token',
  rate_limited: 'wait, then try again',
}
