import type { ExitCode } from './failure.ts'
import type { Interrupts } from './interrupts.ts'
import type { Output } from './output.ts'

/** What every command is given. */
export interface Context {
  /** The version of the package. */
  readonly version: string
  readonly output: Output
  readonly env: NodeJS.ProcessEnv
  readonly interrupts: Interrupts
  /** The arguments of the command line. */
  readonly argv: readonly string[]
  /** Wraps the body of a command for commander. The body resolves to the exit code. */
  action<Arguments extends unknown[]>(
    body: (...given: Arguments) => Promise<ExitCode>,
  ): (...given: Arguments) => Promise<void>
}
