import { Command as BaseCommand } from 'commander'
import { EXIT, type ExitCode } from './exit-codes.ts'
import type { Interrupts } from './interrupts.ts'
import type { Output } from './output.ts'

/** Passed to every command. */
export interface Context {
  readonly output: Output
  readonly env: NodeJS.ProcessEnv
  readonly interrupts: Interrupts
  /** The arguments of the command line. */
  readonly argv: readonly string[]
}

/** The widest line of a help, in characters. */
export const MAX_HELP_WIDTH = 100

/** Breaks a long command line before flags, so that it can still be pasted. */
function broken(line: string): string {
  if (line.length <= MAX_HELP_WIDTH) return line
  const at = line.lastIndexOf(' --', MAX_HELP_WIDTH - 2)
  return `${line.slice(0, at)} \\\n${broken(`     ${line.slice(at)}`)}`
}

/** A commander `Command` that can show examples in its help and has an exit code. */
export class Command extends BaseCommand {
  /** The exit code of the body, once it has run. */
  exitCode: ExitCode = EXIT.done

  override createCommand(name?: string): Command {
    return new Command(name)
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText(
      'after',
      ['', 'Examples:', ...lines.map((line) => broken(`  $ npx campaign-client ${line}`))].join('\n'),
    )
  }

  /** Sets the body of the command. The body resolves to the exit code. */
  run<Arguments extends unknown[]>(body: (...given: Arguments) => Promise<ExitCode>): this {
    return this.action(async (...given: Arguments) => {
      this.exitCode = await body(...given)
    })
  }
}
