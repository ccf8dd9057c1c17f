import { Command as BaseCommand } from 'commander'
import { EXIT, type ExitCode } from './failure.ts'
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
      ['', 'Examples:', ...lines.map((line) => `  $ npx campaign-client ${line}`)].join('\n'),
    )
  }

  /** Sets the body of the command. The body resolves to the exit code. */
  run<Arguments extends unknown[]>(body: (...given: Arguments) => Promise<ExitCode>): this {
    return this.action(async (...given: Arguments) => {
      this.exitCode = await body(...given)
    })
  }
}
