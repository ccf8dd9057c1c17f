import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidArgumentError } from 'commander'
import { toJsonText } from '../../shared/text/visible-text.ts'
import type { Command, Context } from '../commands.ts'
import { connect } from '../connect.ts'
import {
  addressOf,
  baseUrlOf,
  currentTokenOf,
  isReadOnly,
  readOnlyFailure,
  requireAllowedCampaign,
} from '../environment.ts'
import { EXIT, type ExitCode, UNKNOWN_OUTCOME_ADVICE, unknownOutcomeFailure, usageFailure } from '../failure.ts'
import { fileFailure, replaceFile } from '../files.ts'
import { text } from '../flags.ts'
import { confirm } from '../prompt.ts'
import { proxyAgentFor } from '../proxy.ts'
import { conclude } from './conclude.ts'
import { printTable } from './print-table.ts'
import { MAX_REQUESTS, Probe } from './probe.ts'
import { readProfile, targetOf } from './profile.ts'
import { Check, type CheckArguments } from './question.ts'
import { awardOf, isOutcomeUnknown } from './questions/writes.ts'
import { runCheck } from './run-check.ts'

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
    .run((flags: CheckFlags) => checkService(flags, context))
}

function walletAddress(given: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(given)) return given
  throw new InvalidArgumentError('It must be 0x and 40 hex digits.')
}

async function checkService(flags: CheckFlags, { output, env, interrupts }: Context): Promise<ExitCode> {
  checkFlags(flags, env)
  // Creating a client checks the environment.
  await connect(env)
  const address = addressOf(env)
  const token = currentTokenOf(env)
  const target = targetOf(address, token)
  const warn = (message: string): void => output.err.line('warning  ', message)
  const earlier = flags.against === undefined ? undefined : await readProfile(flags.against, target, flags.pid, warn)
  const saveFailed = (error: unknown): never => {
    throw fileFailure(`"${flags.save}" cannot be written`, error)
  }
  if (flags.save !== undefined) await access(dirname(resolve(flags.save)), constants.W_OK).catch(saveFailed)
  if (flags.allowWrites) await confirmWrite(flags, (line) => output.err.line(line))

  const { nodeTransport } = await import('campaign-client/node')
  const agent = await proxyAgentFor(baseUrlOf(env))
  const transport = nodeTransport(agent && { agent })
  const signal = flags.allowWrites ? interrupts.signal : new AbortController().signal
  const { isTerminal } = output.err
  if (!isTerminal) output.err.line(`sending at most ${MAX_REQUESTS} requests`)
  const probe = new Probe({
    transport,
    address,
    token,
    signal,
    wait: (ms) => sleep(ms, undefined, { signal }).catch(() => undefined),
    onRequest: (count) =>
      isTerminal && output.err.write(`\r\u001b[Ksending request ${count} of at most ${MAX_REQUESTS}`),
  })
  const check = new Check(flags, probe)
  const answered = await runCheck(check)
  if (isTerminal) output.err.write('\r\u001b[K')
  transport.close()
  if (signal.aborted) {
    if (isOutcomeUnknown(check)) throw unknownOutcomeFailure('interrupted', 'interrupted during the award')
    interrupts.raise()
    return EXIT.incomplete
  }

  const { profile, changes, exitCode } = conclude(check, answered, target, earlier)
  if (flags.save !== undefined) await replaceFile(flags.save, `${toJsonText(profile)}\n`).catch(saveFailed)
  output.result({ ...profile, ...(earlier && { changes }), exitCode }, (out) => {
    printTable(answered, changes, (...parts) => out.line(...parts))
  })
  if (exitCode === EXIT.unknownOutcome) output.err.line('the outcome of the award is unknown: ', UNKNOWN_OUTCOME_ADVICE)
  if (flags.save !== undefined) output.err.line('wrote ', flags.save)
  return exitCode
}

/** @throws CommandFailure when flags do not fit together, or a write is forbidden */
function checkFlags(flags: CheckFlags, env: NodeJS.ProcessEnv): void {
  if ((flags.account === undefined) !== (flags.platform === undefined)) {
    throw usageFailure('--account and --platform need each other', 'use both or neither')
  }
  if (flags.allowWrites && flags.address === undefined) throw usageFailure('--allow-writes needs --address')
  if (!flags.allowWrites) return
  if (isReadOnly(env, flags.readOnly)) throw readOnlyFailure('check --allow-writes')
  requireAllowedCampaign(env, flags.pid, `writes to "${flags.pid}"`)
}

/** Describes the award and asks for confirmation. @throws CommandFailure when the user declines */
async function confirmWrite(flags: CheckFlags, printLine: (line: string) => void): Promise<void> {
  const { address, pid, id, xp } = awardOf(flags)
  printLine(`--allow-writes sends one award twice: ${xp} XP to ${address} in the campaign ${pid}, with the id ${id}.`)
  printLine('The service must refuse the second request. In later runs, it must refuse both requests.')
  if (!flags.yes) await confirm('Send the award? [y/N] ', /^y(?:es)?$/i, 'add --yes')
}
