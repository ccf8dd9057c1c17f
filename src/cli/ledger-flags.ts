import { InvalidArgumentError } from 'commander'
import type { Verdict } from '../schemas/award-report.ts'
import { VERDICTS } from '../shared/award.ts'
import { type Command, type Context, RepeatableOption, text, walletAddress } from './command.ts'
import type { LedgerFlags } from './ledger.ts'

/** `campaign-client ledger` */
export function define(command: Command, context: Context): void {
  command
    .usage('FILE [options]')
    .description(
      'Shows what a ledger of awards holds: its target, its run, and the awards and XP by verdict. With --wallet, --pid, ' +
        '--id or --verdict, it also lists these awards. Sends no write.',
    )
    .argument('<file>', 'ledger of `award` or of `fileLedger`')
    .option('--wallet <address>', 'list the awards of this wallet', walletAddress)
    .option('--pid <pid>', 'list the awards of this campaign', text)
    .option('--id <id>', 'list the award with this id', text)
    .addOption(
      new RepeatableOption('--verdict <verdict>', `list the awards with this verdict: ${VERDICTS.join(', ')}`, verdict),
    )
    .option('--explain', 'read the progress of each listed wallet that was not awarded, and say what it shows')
    .option('--profile <file>', 'profile of `check --save`, for --explain', text)
    .addOption(new RepeatableOption('--report <file>', 'write a report: .json, .csv or .txt', text))
    .examples(
      'ledger party.csv.ledger',
      'ledger party.csv.ledger --verdict rejected --explain',
      'ledger party.csv.ledger --id launch-party',
    )
    .run(async (file: string, flags: LedgerFlags) => {
      const { showLedger } = await import('./ledger.ts')
      return showLedger(file, flags, context)
    })
}

function verdict(given: string): Verdict {
  const found = VERDICTS.find((name) => name === given)
  if (found !== undefined) return found
  throw new InvalidArgumentError(`It must be one of ${VERDICTS.join(', ')}.`)
}
