import { Command, CommanderError } from 'commander'
import { commands } from './commands.ts'
import { CommandFailure, EXIT, type ExitCode, usageFailure } from './exit.ts'
import { describeFailure } from './failure.ts'
import { systemWords } from './files.ts'
import { addCommands, type Frame } from './frame.ts'
import { Interrupts } from './interrupts.ts'
import { createOutput, dim, type Output, red } from './output.ts'
import { leaveProxies } from './proxy.ts'

/** Runs the command line, and sets the exit code. Never rejects. */
export async function run(argv: readonly string[], version: string): Promise<void> {
  const { env, stdout, stderr } = process
  const output = createOutput({ stdout, stderr }, env, argv.includes('--json'))
  let exitCode: ExitCode = EXIT.done
  const frame: Frame = {
    version,
    output,
    env,
    interrupts: new Interrupts(),
    argv,
    action:
      (body) =>
      async (...given) => {
        exitCode = await body(...given)
      },
  }
  try {
    await parse(argv, frame)
    process.exitCode = exitCode
  } catch (error) {
    process.exitCode = await report(error, output)
  }
  leaveProxies()
  const lost = await output.out.failure()
  if (lost === undefined) return
  output.err.line(red('error'), ' ', `standard output cannot be written: ${systemWords(lost)}`)
  process.exitCode ||= EXIT.notAll
}

async function parse(argv: readonly string[], frame: Frame): Promise<void> {
  const { output, version } = frame
  /** Help or the version, once it was asked for. */
  let told = ''
  const program = new Command('campaign-client')
    .description('The campaign engagement service at your command: a service on this machine, awards, calls, webhooks.')
    .version(version, '-V, --version', 'print the version')
    .option('--json', 'print the result as one line of JSON, last on stdout')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        told += text
      },
      writeErr: (text) => output.err.write(text),
      // Told by `report`, in our own words.
      outputError: () => undefined,
      getOutHasColors: () => !output.json && output.out.colours.isColorSupported,
      getErrHasColors: () => output.err.colours.isColorSupported,
    })
    .configureHelp({
      styleTitle: (text) => output.out.colours.bold(text),
      visibleGlobalOptions: (command) => command.parent?.options.filter(({ long }) => long === '--json') ?? [],
      showGlobalOptions: true,
    })
    .addHelpText('after', environmentHelp)
    .hook('preAction', (_, command) => {
      output.json = command.optsWithGlobals().json === true
    })
  await addCommands(program, commands, frame)
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error
    output.result(error.code === 'commander.version' ? { packageVersion: version } : { help: told }, (out) =>
      out.write(told),
    )
  }
}

const environmentHelp = `
Environment:
  CAMPAIGN_BASE_URL           the service, /api/v1 included
  CAMPAIGN_ACCESS_TOKEN       the bearer token; or CAMPAIGN_ACCESS_TOKEN_FILE, read again when it has expired
  CAMPAIGN_WEBHOOK_SECRET     the secret of the webhook
  HTTPS_PROXY, NO_PROXY       obeyed; NO_COLOR as well

Exit codes:
  0 done · 1 some rows not awarded, or a wrong signature · 2 wrong flags, files or environment; nothing was sent
  3 refused by the service · 4 unreachable · 5 a write that may have been applied`

/** Says what went wrong, and what the process ends with. */
async function report(error: unknown, output: Output): Promise<ExitCode> {
  const failure = error instanceof CommanderError ? toUsageFailure(error) : await describeFailure(error)
  if (output.json) {
    const { code, message, advice, exitCode, result } = failure
    output.result({ ...result, error: { code, message, ...(advice && { advice }), exitCode } }, () => undefined)
  }
  // There stands the help instead.
  if (error instanceof CommanderError && error.code === NO_COMMAND) return failure.exitCode
  output.err.line(red('error'), ' ', failure.message)
  for (const detail of failure.details) output.err.line('  ', detail)
  if (failure.advice) output.err.line(dim('  ↳ '), failure.advice)
  return failure.exitCode
}

/** Of the error after a command that wants another one behind it. */
const NO_COMMAND = 'commander.help'

function toUsageFailure({ code, message }: CommanderError): CommandFailure {
  if (code === NO_COMMAND) return usageFailure('the command line ends before it says what to do', 'see --help')
  const [, told = '', hint] = /^(?:error: )?(.*?)(?:\n\((Did you mean .*)\))?$/s.exec(message) ?? []
  const sentence = withoutValue(code, told)
  return new CommandFailure(EXIT.usage, 'usage', sentence, hint ?? secretAdvice(sentence) ?? 'see --help')
}

/** The sentence without what was given: it may hold a password, or be a secret that was meant for somewhere else. */
function withoutValue(code: string, sentence: string): string {
  if (code === 'commander.unknownOption') return sentence.replace(/=.*'$/s, "'")
  if (code !== 'commander.invalidArgument') return sentence
  return sentence
    .replace(/^option '([^']*)' argument '.*' is invalid\. /s, '$1: ')
    .replace(/^command-argument value '.*' is invalid for argument '([^']*)'\. /s, '<$1>: ')
}

const secretAdvice = (sentence: string): string | undefined => {
  if (/'--?(?:access-?)?token\b/i.test(sentence)) return 'a token is never a flag: set CAMPAIGN_ACCESS_TOKEN'
  if (/'--?(?:webhook-?)?secret\b/i.test(sentence)) return 'a secret is never a flag: set CAMPAIGN_WEBHOOK_SECRET'
  return undefined
}
