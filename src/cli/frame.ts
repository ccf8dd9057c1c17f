import type { Command } from 'commander'
import type { ExitCode } from './exit.ts'
import type { Interrupts } from './interrupts.ts'
import type { Output } from './output.ts'

/** What every command is given. */
export interface Frame {
  /** Of the package. */
  readonly version: string
  readonly output: Output
  readonly env: NodeJS.ProcessEnv
  readonly interrupts: Interrupts
  /** The words of the command line: what is named in them is loaded. */
  readonly argv: readonly string[]
  /** Makes the body of a command what commander calls; the code it resolves to ends the command. */
  action<Arguments extends unknown[]>(
    body: (...given: Arguments) => Promise<ExitCode>,
  ): (...given: Arguments) => Promise<void>
}

/** A command that is loaded when it is called for. */
export interface LazyCommand {
  readonly name: string
  readonly summary: string
  load(): Promise<{ define(command: Command, frame: Frame): void | Promise<void> }>
}

/** Adds commands by name and summary, with flags and body only for those that are named on the command line. */
export async function addCommands(parent: Command, commands: readonly LazyCommand[], frame: Frame): Promise<void> {
  for (const { name, summary, load } of commands) {
    const command = parent.command(name).summary(summary)
    if (!frame.argv.includes(name)) continue
    const { define } = await load()
    await define(command, frame)
  }
}

/** Examples below the help of a command, as one would type them. */
export const examples = (...lines: readonly string[]): string =>
  ['', 'Examples:', ...lines.map((line) => `  $ campaign-client ${line}`)].join('\n')
