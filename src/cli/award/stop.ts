import type { AwardReport, AwardRunStoppedError } from 'campaign-client/bulk'
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts'
import { describeFailure } from '../failure.ts'
import { isSystemError, systemWords } from '../files.ts'

/** What the command says of a run that ended before its rows did. `goOn`: how to go on with it. */
export async function describeStop(
  { cause, message, report }: AwardRunStoppedError,
  goOn: string,
): Promise<CommandFailure> {
  // Code 2 means that nothing was sent.
  const wrongInput = isAnySent(report) ? EXIT.notAll : EXIT.usage
  if (isSystemError(cause)) {
    return new CommandFailure(wrongInput, 'ledger', `the ledger failed: ${systemWords(cause)}`, goOn)
  }
  const { exitCode, code, advice, message: words } = await describeFailure(cause)
  const sentence = cause instanceof CommandFailure ? words : sentenceOf(message)
  // Of a 401 it does not matter that an attempt before it was ambiguous: a token is what is needed.
  const own: ExitCode = code === 'unauthorized' ? EXIT.refused : exitCode === EXIT.usage ? wrongInput : exitCode
  const advised = own === EXIT.unknownOutcome ? undefined : advice
  return new CommandFailure(own, code, sentence, advised === undefined ? goOn : `${advised}; ${goOn}`)
}

const isAnySent = ({ counts, fromLedger }: AwardReport): boolean =>
  counts.awarded + counts.alreadyAwarded + counts.unconfirmed + counts.rejected + counts.indeterminate > fromLedger

/** What the library says, without the names that only programs know. */
const sentenceOf = (message: string): string =>
  message.replace(/^rewardWallets stopped, because /, 'stopped: ').replace(/\. To go on, run it again with .*$/s, '')
