import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { EndedRun } from './summary.ts'

/**
 * Returns the exit code of a run. The first that applies, in this order:
 *
 * - 130: a signal stopped the run
 * - 5: the outcome of an award is unknown, from this run or an earlier one
 * - 3: the service refused the run or a campaign
 * - 4, 70 or 2: the code of another failure that stopped the run. If an award was sent, 1 replaces 2
 * - 1: an award was not made, or a row was skipped
 * - 0: otherwise
 *
 * `sendAwards` replaces 0 by 1 if a report cannot be written.
 */
export function exitCodeOfRun({ report, plan, stop, hasUnknownOutcome }: EndedRun): ExitCode {
  const { counts, halted, fromLedger, complete, usedBefore } = report
  if (stop?.exitCode === EXIT.interrupted) return EXIT.interrupted
  if (hasUnknownOutcome || counts.indeterminate > 0 || counts.unconfirmed > 0) return EXIT.unknownOutcome
  if (stop?.exitCode === EXIT.refused || halted.length > 0) return EXIT.refused
  if (stop !== undefined) {
    // Exit code 2 promises that nothing was sent.
    const isAnySent = counts.awarded + counts.alreadyAwarded + counts.rejected > fromLedger
    return stop.exitCode === EXIT.usage && isAnySent ? EXIT.incomplete : stop.exitCode
  }
  const isAnyMissing = counts.rejected + usedBefore.awards + plan.list.skipped.rows > 0
  return isAnyMissing || !complete ? EXIT.incomplete : EXIT.done
}
