import type { CallOptions } from 'campaign-client'
import type { Command } from 'commander'
import { endpoints, type OperationName } from '../endpoints/index.ts'
import { toJsonText } from '../shared/text/visible-text.ts'
import { argumentsOf } from './arguments.ts'
import { connect } from './connection.ts'
import { CommandFailure, EXIT, type ExitCode, usageFailure } from './exit.ts'
import { inputName, readJsonObject } from './files.ts'
import { collectPairs, decimal, type Pair, wholeNumber } from './flags.ts'
import { examples, type Frame } from './frame.ts'

interface CallFlags extends Readonly<Record<string, unknown>> {
  readonly input?: string
  readonly query?: readonly Pair[]
  readonly timeout?: number
  readonly registrationPath?: string
}

/** Whatever a list of processes or a shell's history shows must not hold these. */
const NEVER_FLAGS: ReadonlySet<string> = new Set(['secret'])

/** `campaign-client call METHOD`: one subcommand for each operation of the catalogue. */
export function define(command: Command, frame: Frame): void {
  command
    .usage('METHOD [--ARGUMENT VALUE ...] [--input FILE]')
    .description('Calls a method of the service and prints the data of its answer as JSON.')
    .addHelpText(
      'after',
      examples(
        'call getUserProgress --account ada --platform discord --pid demo',
        'call rewardWallet --input award.json',
        'call getCampaignInfo --pid demo --query env=dev --json',
      ),
    )
  for (const operation of Object.keys(endpoints) as OperationName[]) defineMethod(command, operation, frame)
}

function defineMethod(parent: Command, operation: OperationName, frame: Frame): void {
  const { method, path = 'a path of your own', retry } = endpoints[operation]
  const command = parent
    .command(operation)
    .summary(`${method} /${path}`)
    .description(`${method} /${path}. A retry is ${retry}.`)
  for (const { name, isNumber, isOptional } of argumentsOf(operation)) {
    if (NEVER_FLAGS.has(name)) continue
    const help = isOptional ? 'optional' : ''
    if (isNumber) command.option(`--${name} <number>`, help, decimal)
    else command.option(`--${name} <text>`, help)
  }
  command
    .option('--input <file>', 'arguments as a JSON object, from a file or, with -, from standard input')
    .option(
      '--query <name=value>',
      'a query parameter that the interface does not show; may be repeated, with another name',
      collectPairs,
    )
    .option('--timeout <ms>', 'how long one attempt may take', wholeNumber(1, 2_147_483_647))
  if (operation === 'registerWebhook') {
    command.requiredOption('--registration-path <path>', 'where webhooks are registered, below the base URL')
    command.addHelpText('after', '\nThe secret comes by --input only: flags can be read by everybody on the machine.')
  }
  command.action(frame.action((flags: CallFlags) => call(operation, flags, frame)))
}

async function call(operation: OperationName, flags: CallFlags, { output, env, interrupts }: Frame): Promise<ExitCode> {
  const request = await readArguments(operation, flags)
  const missing = argumentsOf(operation).filter(({ name, isOptional }) => !isOptional && !Object.hasOwn(request, name))
  if (missing.length > 0) {
    const flagNames = missing.map(({ name }) => `--${name}`).join(', ')
    throw usageFailure(`${operation} needs ${flagNames}`, 'as flags, or in the JSON of --input')
  }
  const client = await connect(env, { webhookRegistrationPath: flags.registrationPath })
  // Each method takes what its own schema describes; the client holds the argument against it.
  const send = client[operation] as (request: unknown, options: CallOptions) => Promise<unknown>
  const options: CallOptions = {
    ...(flags.query && { query: Object.fromEntries(flags.query) }),
    ...(flags.timeout && { timeoutMs: flags.timeout }),
  }
  // A read that nobody waits for may end with the process; of a write one wants to know what became of it.
  const isWrite = endpoints[operation].method !== 'GET'
  const signal = isWrite ? interrupts.signal : undefined
  const data = await send.call(client, request, { ...options, signal }).catch((error: unknown) => {
    throw signal?.aborted ? interrupted(operation) : error
  })
  output.result({ data: data ?? null }, (out) => out.write(`${toJsonText(data ?? null)}\n`))
  return EXIT.done
}

const interrupted = (operation: string): CommandFailure =>
  new CommandFailure(
    EXIT.unknownOutcome,
    'interrupted',
    `${operation} was interrupted while its request was on its way`,
    'it may have been applied: read the progress before you run it again',
  )

async function readArguments(operation: OperationName, flags: CallFlags): Promise<Record<string, unknown>> {
  const given = argumentsOf(operation)
    .map(({ name }) => [name, flags[name]] as const)
    .filter(([, value]) => value !== undefined)
  const { input } = flags
  if (input === undefined) return Object.fromEntries(given)
  const fromFile = await readJsonObject(input)
  const twice = given.find(([name]) => Object.hasOwn(fromFile, name))
  if (twice) throw usageFailure(`${twice[0]} is given twice: by its flag and by ${inputName(input)}`)
  return { ...fromFile, ...Object.fromEntries(given) }
}
