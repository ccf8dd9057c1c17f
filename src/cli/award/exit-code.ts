import type { AwardReport, AwardRunStoppedError } from 'campaign-client/bulk'
import { ADVICE, CommandFailure, EXIT, type ExitCode, exitCodeOf, toFailure, withoutDocsPath } from '../failure.ts'
import { isSystemError, systemReason } from '../files.ts'
import type { Plan } from './plan.ts'

/** A run that is complete or stopped. */
export interface EndedRun {
  readonly report: AwardReport
  /** The plan, made after the run locked the ledger. */
  readonly planAtStart: Plan
  /** Why the run stopped. */
  readonly stop?: CommandFailure
  /** Whether a stopped run left an award in the ledger with an unknown outcome. */
  readonly isInDoubt: boolean
}

/** Returns the exit code of a run: the first that applies. */
export function exitCodeOfRun({ report, stop, isInDoubt }: EndedRun): ExitCode {
  const { counts, halted, fromLedger, complete } = report
  if (isInDoubt || counts.indeterminate > 0 || counts.unconfirmed > 0) return EXIT.unknownOutcome
  if (stop?.exitCode === EXIT.refused || halted.length > 0) return EXIT.refused
  if (stop !== undefined) {
    // 2 means that nothing was sent.
    const isAnySent = counts.awarded + counts.alreadyAwarded + counts.rejected > fromLedger
    return stop.exitCode === EXIT.usage && isAnySent ? EXIT.incomplete : stop.exitCode
  }
  return counts.rejected > 0 || !complete ? EXIT.incomplete : EXIT.done
}

/** The failure of a run that could not write its ledger. */
export const ledgerFailure = (cause: NodeJS.ErrnoException, exitCode: ExitCode = EXIT.usage): CommandFailure =>
  new CommandFailure(exitCode, 'ledger', `the ledger cannot be written: ${systemReason(cause)}`, {
    advice: 'make the ledger writable',
  })

/** Converts the reason why a run stopped to a failure. */
export async function stopFailure({ cause, message }: AwardRunStoppedError): Promise<CommandFailure> {
  if (isSystemError(cause)) return ledgerFailure(cause)
  const failure = await toFailure(cause)
  if (failure === cause || failure.exitCode === EXIT.internal) return failure
  const { code } = failure
  // Do not use `failure.exitCode`: it may mean an unknown outcome, and `exitCodeOfRun` takes outcomes from the report.
  const exitCode = exitCodeOf(code)
  // If the service can't be reached, the message of the cause says enough. Otherwise use the message of the run.
  const text = exitCode === EXIT.unreachable && cause instanceof Error ? cause.message : message
  const sentence = withoutDocsPath(text)
    .replace(/^rewardWallets stopped: /, '')
    .replace(/\. (?:To continue|Run it again).*$/s, '')
  return new CommandFailure(exitCode, code, sentence, { advice: ADVICE[code] })
}
