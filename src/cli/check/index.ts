import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { ask } from '../award/confirm-plan.ts'
import { examples } from '../commands.ts'
import { connect } from '../connection.ts'
import type { Context } from '../context.ts'
import { accessTokenOf, addressOf, allowedCampaignsOf, baseUrlOf, isReadOnly, readOnlyFailure } from '../environment.ts'
import { CommandFailure, EXIT, type ExitCode, UNKNOWN_OUTCOME_ADVICE, usageFailure } from '../failure.ts'
import { fileFailure } from '../files.ts'
import { text } from '../flags.ts'
import { proxyAgentFor } from '../proxy.ts'
import { conclude } from './conclude.ts'
import { MAX_REQUESTS, Probe } from './probe.ts'
import { readProfile, targetOf, writeProfile } from './profile.ts'
import { Check, type CheckArguments } from './question.ts'
import { runCheck } from './run-check.ts'
import { printTable } from './table.ts'
import { awardOf, isOutcomeUnknown } from './writes.ts'

interface CheckFlags extends CheckArguments {
  readonly yes?: boolean
  readonly save?: string
  readonly against?: string
  readonly readOnly?: boolean
}

/** `campaign-client check` */
export function define(command: Command, context: Context): void {
  command
    .usage('--pid PID [options]')
    .description(
      'Asks the service what the description of its interface leaves open, with at most ' +
        `${MAX_REQUESTS} requests. It only reads, unless --allow-writes is given.`,
    )
    .requiredOption('--pid <pid>', 'campaign ID', text)
    .option('--account <account>', 'account of a user who has an entry in the campaign; needs --platform', text)
    .option('--platform <platform>', 'platform of the account', text)
    .option('--code <code>', 'an invite code of the campaign, best one that the account has used', text)
    .option('--address <address>', 'wallet for the award of --allow-writes', walletAddress)
    .option('--allow-writes', 'award 1 XP to the wallet; needs --address')
    .option('--yes', 'do not ask before the award')
    .option('--save <file>', 'write what was learned as a profile', text)
    .option('--against <file>', 'compare with a profile that was saved earlier', text)
    .option('--read-only', 'refuse --allow-writes')
    .addHelpText(
      'after',
      examples(
        'check --pid demo --account ada --platform discord --save profile.json',
        'check --pid demo --account ada --platform discord --against profile.json --json',
      ),
    )
    .action(context.action((flags: CheckFlags) => checkService(flags, context)))
}

function walletAddress(given: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(given)) return given
  throw new InvalidArgumentError('It must be 0x and 40 hex digits.')
}

async function checkService(flags: CheckFlags, { output, env, interrupts }: Context): Promise<ExitCode> {
  checkFlags(flags, env)
  // A client refuses a wrong environment.
  await connect(env)
  const address = addressOf(env)
  const source = accessTokenOf(env)
  const token = typeof source === 'string' ? source : source()
  const target = targetOf(address, token)
  const warn = (message: string): void => output.err.line('warning  ', message)
  const earlier = flags.against === undefined ? undefined : await readProfile(flags.against, target, flags.pid, warn)
  if (flags.save !== undefined) {
    await access(dirname(resolve(flags.save)), constants.W_OK).catch((error: unknown) => {
      throw fileFailure(`"${flags.save}" cannot be written`, error)
    })
  }
  if (flags.allowWrites) await confirmWrite(flags, (line) => output.err.line(line))

  const { nodeTransport } = await import('campaign-client/node')
  const agent = await proxyAgentFor(baseUrlOf(env))
  const transport = nodeTransport(agent && { agent })
  const signal = flags.allowWrites ? interrupts.signal : new AbortController().signal
  const { isTerminal } = output.err
  if (!isTerminal) output.err.line(`asking, with at most ${MAX_REQUESTS} requests`)
  const probe = new Probe({
    transport,
    address,
    token,
    signal,
    wait: (ms) => sleep(ms, undefined, { signal }).catch(() => undefined),
    onRequest: (count) =>
      isTerminal && output.err.write(`\r\u001b[Kasking, request ${count} of at most ${MAX_REQUESTS}`),
  })
  const check = new Check(flags, probe)
  const answered = await runCheck(check)
  if (isTerminal) output.err.write('\r\u001b[K')
  transport.close()
  if (signal.aborted) {
    if (isOutcomeUnknown(check)) {
      const message = 'interrupted during the award'
      throw new CommandFailure(EXIT.unknownOutcome, 'interrupted', message, UNKNOWN_OUTCOME_ADVICE)
    }
    if (interrupts.received) interrupts.dieOf(interrupts.received)
    return EXIT.notAll
  }

  const { profile, changes, exitCode } = conclude(check, answered, target, earlier)
  if (flags.save !== undefined) await writeProfile(flags.save, profile)
  output.result({ ...profile, ...(earlier && { changes }), exitCode }, (out) => {
    printTable(answered, changes, (...parts) => out.line(...parts))
  })
  if (exitCode === EXIT.unknownOutcome) output.err.line('the outcome of the award is unknown: ', UNKNOWN_OUTCOME_ADVICE)
  if (flags.save !== undefined) output.err.line('wrote ', flags.save)
  return exitCode
}

/** @throws CommandFailure before anything is sent */
function checkFlags(flags: CheckFlags, env: NodeJS.ProcessEnv): void {
  if ((flags.account === undefined) !== (flags.platform === undefined)) {
    throw usageFailure('--account and --platform belong together', 'give both, or neither')
  }
  if (flags.allowWrites && flags.address === undefined) throw usageFailure('--allow-writes needs --address')
  if (!flags.allowWrites) return
  if (isReadOnly(env, flags.readOnly)) throw readOnlyFailure('check --allow-writes')
  if (allowedCampaignsOf(env)?.includes(flags.pid) === false) {
    throw usageFailure(`CAMPAIGN_ALLOWED_CAMPAIGNS does not allow writes to "${flags.pid}": nothing was sent`)
  }
}

/** Says what will be written, and asks. @throws CommandFailure when the answer is no */
async function confirmWrite(flags: CheckFlags, say: (line: string) => void): Promise<void> {
  const { address, pid, id, xp } = awardOf(flags)
  say(`--allow-writes awards ${xp} XP to ${address} in the campaign ${pid}, under the id ${id}, twice.`)
  say('The service must refuse the second award, and every award of a later run.')
  if (flags.yes) return
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw usageFailure('there is no terminal to ask at: nothing was sent', 'add --yes')
  }
  if (/^y(?:es)?$/i.test((await ask('Send the award? [y/N] ')) ?? '')) return
  throw new CommandFailure(EXIT.usage, 'declined', 'declined: nothing was sent')
}
