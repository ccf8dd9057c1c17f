import { CommanderError } from 'commander'
import { version } from '../../package.json'
import { Command, type Context, MAX_HELP_WIDTH, refuseRepeatedFlags } from './command.ts'
import { ENVIRONMENT_HELP, givenBaseUrlOf, toFailure } from './connection.ts'
import { EXIT, EXIT_CODES_HELP, type ExitCode } from './exit-codes.ts'
import { type CommandFailure, usageFailure } from './failure.ts'
import { systemReason } from './files.ts'
import { Interrupts } from './interrupts.ts'
import { dim, type Host, Output, red } from './output.ts'

/** Runs the command line. Returns the exit code. Some connections may stay open. */
export async function run(argv: readonly string[], host: Host): Promise<ExitCode> {
  const { env } = host
  const output = new Output(host, argv.includes('--json'))
  const interrupts = new Interrupts(host)
  let exitCode: ExitCode
  try {
    exitCode = await parse({ output, env, interrupts, argv })
  } catch (error) {
    exitCode = printError(error, output, env)
  }
  const failure = await output.out.flush()
  if (failure !== undefined) {
    output.err.line(red('error'), ' ', `standard output cannot be written: ${systemReason(failure)}`)
    exitCode ||= EXIT.incomplete
  }
  await output.err.flush()
  interrupts.stop()
  return exitCode
}

async function parse(context: Context): Promise<ExitCode> {
  const { output, argv } = context
  let exitCode: ExitCode = EXIT.done
  /** The help or the version, if a flag asked for it. */
  let text = ''
  const program: Command = new Command('campaign-client')
    .description(
      'Runs the campaign engagement service on this machine, awards XP from a CSV file, calls methods, tests webhooks.',
    )
    .version(version, '-V, --version', 'print the version')
    .option('--json', 'print the result as one line of JSON, last on stdout')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: (part) => {
        text += part
      },
      writeErr: (part) => output.err.write(part),
      // `printError` prints errors.
      outputError: () => undefined,
      getOutHelpWidth: () => Math.min(output.out.columns, MAX_HELP_WIDTH),
      getErrHelpWidth: () => Math.min(output.err.columns, MAX_HELP_WIDTH),
      getOutHasColors: () => !output.json && output.out.colours.isColorSupported,
      getErrHasColors: () => output.err.colours.isColorSupported,
    })
    .configureHelp({
      styleTitle: (title) => output.out.colours.bold(title),
      visibleGlobalOptions: (command) =>
        command === program ? [] : program.options.filter(({ long }) => long === '--json'),
      showGlobalOptions: true,
    })
    .examples('dev', 'award party.csv --pid demo --dry-run')
    .addHelpText('after', `\n${ENVIRONMENT_HELP}\n\n${EXIT_CODES_HELP}`)
    .hook('preAction', (_, command) => {
      output.json = command.optsWithGlobals().json === true
    })
    .hook('postAction', (_, command) => {
      exitCode = (command as Command).exitCode
    })
  await addCommands(program, context)
  refuseRepeatedFlags(program)
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error
    const result = error.code === 'commander.version' ? { packageVersion: version } : { help: text }
    output.result(result, (out) => out.write(text))
  }
  return exitCode
}

/**
 * A command whose flags are loaded only when its name is on the command line. Most commands load their code only when it
 * runs, so that the help loads neither the client nor zod.
 */
interface LazyCommand {
  readonly name: string
  readonly summary: string
  load(): Promise<{ define(command: Command, context: Context): void }>
}

/** Every command, in the order of the help. */
const COMMANDS: readonly LazyCommand[] = [
  { name: 'dev', summary: 'run the service on this machine, with a console', load: () => import('./dev-flags.ts') },
  {
    name: 'award',
    summary: 'award XP to the wallets of a CSV file, once each',
    load: () => import('./award/flags.ts'),
  },
  {
    name: 'ledger',
    summary: 'show what a ledger of awards holds, and why awards were refused',
    load: () => import('./ledger-flags.ts'),
  },
  { name: 'call', summary: 'call a method of the service', load: () => import('./call.ts') },
  { name: 'webhook', summary: 'send, receive and check webhook messages', load: () => import('./webhook/index.ts') },
  {
    name: 'check',
    summary: 'check that the service behaves as this package assumes',
    load: () => import('./check/flags.ts'),
  },
  { name: 'types', summary: 'write the IDs of a campaign as TypeScript types', load: () => import('./types.ts') },
]

/** Adds every command by name and summary. Loads the flags of a command only if the command line names it. */
async function addCommands(program: Command, context: Context): Promise<void> {
  for (const { name, summary, load } of COMMANDS) {
    const command = program.command(name).summary(summary)
    if (!context.argv.includes(name)) continue
    const { define } = await load()
    define(command, context)
  }
}

function printError(error: unknown, output: Output, env: NodeJS.ProcessEnv): ExitCode {
  const failure = error instanceof CommanderError ? toUsageFailure(error) : toFailure(error, givenBaseUrlOf(env))
  const { code, message, exitCode, details } = failure
  const { advice, docsPath, result, lines = [] } = details
  if (output.json) output.result({ ...result, error: { code, message, ...(advice && { advice }), exitCode }, exitCode })
  // Commander has printed the help.
  if (error instanceof CommanderError && error.code === NO_COMMAND) return exitCode
  for (const line of lines) output.err.line(line)
  output.err.line(red('error'), ' ', message, docsPath ? ` (${docsPath})` : '')
  if (advice) output.err.line(dim('  ↳ '), advice)
  return exitCode
}

/** Commander's error code for a missing subcommand. */
const NO_COMMAND = 'commander.help'

function toUsageFailure({ code, message }: CommanderError): CommandFailure {
  if (code === NO_COMMAND) return usageFailure('no command is given', 'see --help')
  const [, problem = '', hint] = /^(?:error: )?(.*?)(?:\n\((Did you mean .*)\))?$/s.exec(message) ?? []
  const sentence = withoutValue(code, problem)
  // `dev` has a flag --token: only an unknown flag is the attempt to pass a secret.
  const advice = code === 'commander.unknownOption' ? adviceOnSecret(sentence) : undefined
  return usageFailure(sentence, hint ?? advice ?? 'see --help')
}

/** Removes the value of a flag or argument: it may be a secret. */
function withoutValue(code: string, sentence: string): string {
  if (code === 'commander.unknownOption') return sentence.replace(/=.*'$/s, "'")
  if (code !== 'commander.invalidArgument') return sentence
  return sentence
    .replace(/^option '([^']*)' argument '.*' is invalid\. /s, '$1: ')
    .replace(/^command-argument value '.*' is invalid for argument '([^']*)'\. /s, '<$1>: ')
}

const SECRET_ADVICE =
  'do not pass secrets as flags: registerWebhook reads its secret from --input, other commands from CAMPAIGN_WEBHOOK_SECRET'

const adviceOnSecret = (sentence: string): string | undefined => {
  if (/'--?(?:access-?)?token\b/i.test(sentence)) return 'do not pass tokens as flags: set CAMPAIGN_ACCESS_TOKEN'
  if (/'--?(?:webhook-?)?secret\b/i.test(sentence)) return SECRET_ADVICE
  return undefined
}
