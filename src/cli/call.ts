import { type Argument, argumentsOf } from '../endpoints/arguments.ts'
import { endpoints, type OperationName } from '../endpoints/index.ts'
import type { WriteOutcome } from '../errors/campaign-error.ts'
import type { CallOptions } from '../options.ts'
import { type Command, type Context, decimal, type Pair, queryOption, wholeNumberFlag } from './command.ts'
import { connect, isReadOnly, readOnlyFailure, requireAllowedCampaign } from './connection.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { CommandFailure, unknownOutcomeFailure, usageFailure } from './failure.ts'
import { inputName, readJsonObject } from './files.ts'
import { foreignJsonText } from './output.ts'

interface CallFlags extends Readonly<Record<string, unknown>> {
  readonly input?: string
  readonly query?: readonly Pair[]
  readonly timeout?: number
  readonly registrationPath?: string
  readonly readOnly?: boolean
}

const RETRY_TEXTS: Readonly<Record<'safe' | 'guarded' | 'unsafe', string>> = {
  safe: 'A retry is safe.',
  guarded: 'A retry is safe: the service refuses a second write.',
  unsafe: 'A retry may be counted twice.',
}

/** `campaign-client call METHOD`: one subcommand for each operation of the catalogue. */
export function define(command: Command, context: Context): void {
  command
    .usage('METHOD [--ARGUMENT VALUE ...] [--input FILE]')
    .description(
      'Calls a method of the client, and prints the data of the response as JSON. Prints nothing if there is no data.',
    )
    .examples(
      'call getUserProgress --account ada --platform discord --pid demo',
      'call rewardWallet --input award.json',
      'call getCampaignInfo --pid demo --query env=dev --json',
    )
  for (const operation of Object.keys(endpoints) as OperationName[]) defineMethod(command, operation, context)
}

function defineMethod(parent: Command, operation: OperationName, context: Context): void {
  const { method, path, retry } = endpoints[operation]
  const shownPath = path === undefined ? 'the path of --registration-path' : `/${path}`
  const command = parent
    .command(operation)
    .summary(`${method} ${shownPath}`)
    .description(
      `Sends ${method} to ${shownPath}. ${RETRY_TEXTS[retry]} Arguments that are not optional are required, as flags or ` +
        'in --input.',
    )
  const example: string[] = []
  const withInput = ['--input arguments.json']
  for (const argument of argumentsOf(operation)) {
    const { name, isNumber, isOptional, isSecret } = argument
    // Process lists and shell histories show flags.
    if (isSecret) continue
    if (isNumber) command.option(`--${name} <number>`, helpOf(argument), decimal)
    else command.option(`--${name} <text>`, helpOf(argument))
    if (!isOptional) example.push(`--${name} ${argument.example}`)
  }
  command
    .option('--input <file>', 'read arguments from a JSON file; - for standard input')
    .addOption(queryOption())
    .option('--timeout <ms>', 'time limit of one attempt, in milliseconds', wholeNumberFlag(1, 2_147_483_647))
    .option('--read-only', 'refuse to write')
  if (operation === 'registerWebhook') {
    command.requiredOption('--registration-path <path>', 'path of the webhook registration, below CAMPAIGN_BASE_URL')
    command.addHelpText('after', '\nPass the secret with --input: all users of the machine can read flags.')
    for (const flags of [example, withInput]) flags.push('--registration-path webhook')
  }
  command
    .examples(`call ${operation} ${example.join(' ')}`, `call ${operation} ${withInput.join(' ')}`)
    .run((flags: CallFlags) => call(operation, flags, context))
}

/** Returns the help of a flag: the description of the argument without Markdown, and an example. */
const helpOf = ({ description, example, isOptional }: Argument): string =>
  `${isOptional ? 'Optional. ' : ''}${description.replaceAll('`', '')} Example: ${example}`

async function call(operation: OperationName, flags: CallFlags, context: Context): Promise<ExitCode> {
  const { output, env, interrupts } = context
  const isWrite = endpoints[operation].method !== 'GET'
  if (isReadOnly(env, flags.readOnly) && isWrite) throw readOnlyFailure(operation)
  const request = await readArguments(operation, flags)
  const missing = argumentsOf(operation).filter(({ name, isOptional }) => !isOptional && !Object.hasOwn(request, name))
  if (missing.length > 0) {
    const flagNames = missing.map(({ name }) => `--${name}`).join(', ')
    throw usageFailure(`${operation} needs ${flagNames}`, 'pass them as flags, or in the JSON of --input')
  }
  if (isWrite) requireAllowedCampaign(env, request.pid, `this ${operation}`)
  let outcome: WriteOutcome | undefined
  const client = await connect(env, {
    webhookRegistrationPath: flags.registrationPath,
    hooks: {
      onEnd(end) {
        outcome = end.outcome
      },
    },
  })
  // The client checks the request against the schema of the operation.
  const send = client[operation] as (request: unknown, options: CallOptions) => Promise<unknown>
  // SIGINT ends the process during a read. It aborts a write, so that the command reports its outcome.
  const signal = isWrite ? interrupts.abortOnFirst() : undefined
  const options: CallOptions = {
    query: flags.query && Object.fromEntries(flags.query),
    timeoutMs: flags.timeout,
    signal,
  }
  const data = await send.call(client, request, options).catch((error: unknown) => {
    if (!signal?.aborted) throw error
    if (outcome === 'unknown') {
      throw unknownOutcomeFailure('interrupted', `${operation} was interrupted before its response arrived`)
    }
    throw new CommandFailure(EXIT.interrupted, 'interrupted', `${operation} was interrupted, and was not applied`)
  })
  output.result(data === undefined ? {} : { data }, (out) => {
    if (data !== undefined) out.write(`${foreignJsonText(data)}\n`)
  })
  return EXIT.done
}

async function readArguments(operation: OperationName, flags: CallFlags): Promise<Record<string, unknown>> {
  const given = argumentsOf(operation)
    .map(({ name }) => [name, flags[name]] as const)
    .filter(([, value]) => value !== undefined)
  const { input } = flags
  if (input === undefined) return Object.fromEntries(given)
  const fromFile = await readJsonObject(input)
  const names = argumentsOf(operation).map(({ name }) => name)
  const unknown = Object.keys(fromFile).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const meant = mostSimilar(unknown, names)
    throw usageFailure(
      `${operation} has no argument ${JSON.stringify(unknown)}, which is in ${inputName(input)}`,
      meant === undefined ? `its arguments are ${names.join(', ')}` : `did you mean "${meant}"?`,
    )
  }
  const twice = given.find(([name]) => Object.hasOwn(fromFile, name))
  if (twice) throw usageFailure(`${twice[0]} is given twice: as a flag and in ${inputName(input)}`)
  return { ...fromFile, ...Object.fromEntries(given) }
}

/** Returns the name that differs from a misspelt name in at most a third of its characters. */
function mostSimilar(misspelt: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(plain(misspelt), plain(name)) }))
    .sort((one, other) => one.distance - other.distance)
  return best && best.distance <= best.name.length / 3 ? best.name : undefined
}

/** Removes the differences between `refId`, `ref-id` and `ref_id`. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 40)

/** The Levenshtein distance: insertions, deletions and replacements of a character. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [at, character] of [...one].entries()) {
    const next = [at + 1]
    for (let index = 1; index <= other.length; index++) {
      const replaced = (row[index - 1] ?? 0) + (character === other[index - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
