import { type Command, type Context, text, walletAddress } from '../command.ts'
import type { CheckFlags } from './check.ts'

/** Maximum number of requests in a run. */
const MAX_REQUESTS = 60

/** `campaign-client check` */
export function define(command: Command, context: Context): void {
  command
    .usage('--pid PID [options]')
    .description(
      'Checks, with your token, that the service behaves as this package assumes. Sends at most ' +
        `${MAX_REQUESTS} requests. Only reads, unless --allow-writes is given.`,
    )
    .requiredOption('--pid <pid>', 'campaign ID', text)
    .option('--account <account>', 'account of a user in the campaign; needs --platform', text)
    .option('--platform <platform>', 'platform of the account', text)
    .option('--code <code>', 'invite code of the campaign, if possible one that the account has used', text)
    .option('--address <address>', 'wallet for the test award of --allow-writes', walletAddress)
    .option('--allow-writes', 'award 1 XP to the wallet; needs --address')
    .option('--yes', 'do not ask before the award')
    .option('--save <file>', 'save the results as a profile', text)
    .option('--against <file>', 'compare the results with a saved profile', text)
    .option('--read-only', 'refuse --allow-writes')
    .examples(
      'check --pid demo --account ada --platform discord --save profile.json',
      'check --pid demo --account ada --platform discord --against profile.json --json',
    )
    .run(async (flags: CheckFlags) => {
      const { checkService } = await import('./check.ts')
      return checkService(flags, MAX_REQUESTS, context)
    })
}
