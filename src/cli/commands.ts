import { Command as BaseCommand } from 'commander'
import type { ExitCode } from './failure.ts'
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

/** A commander `Command` that can show examples in its help and sets the exit code of the process. */
export class Command extends BaseCommand {
  override createCommand(name?: string): Command {
    return new Command(name)
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText(
      'after',
      ['', 'Examples:', ...lines.map((line) => `  $ npx campaign-client ${line}`)].join('\n'),
    )
  }

  /** Sets the body of the command. The body resolves to the exit code of the process. */
  run<Arguments extends unknown[]>(body: (...given: Arguments) => Promise<ExitCode>): this {
    return this.action(async (...given: Arguments) => {
      process.exitCode = await body(...given)
    })
  }
}

/** A command whose code is loaded only when its name is on the command line. */
export interface LazyCommand {
  readonly name: string
  readonly summary: string
  load(): Promise<{ define(command: Command, context: Context): void | Promise<void> }>
}

/** Every command, in the order of the help. */
export const commands: readonly LazyCommand[] = [
  { name: 'dev', summary: 'run the service on this machine, with a console', load: () => import('./dev.ts') },
  {
    name: 'award',
    summary: 'award XP to the wallets of a CSV file, once each',
    load: () => import('./award/index.ts'),
  },
  { name: 'call', summary: 'call a method of the service', load: () => import('./call.ts') },
  { name: 'webhook', summary: 'send, receive and check webhook messages', load: () => import('./webhook/index.ts') },
  {
    name: 'check',
    summary: 'check that the service behaves as this package assumes',
    load: () => import('./check/index.ts'),
  },
  { name: 'types', summary: 'write the IDs of a campaign as TypeScript types', load: () => import('./types/index.ts') },
]

/** Adds every command by name and summary. Loads the code of a command only if the command line names it. */
export async function addCommands(parent: Command, commands: readonly LazyCommand[], context: Context): Promise<void> {
  for (const { name, summary, load } of commands) {
    const command = parent.command(name).summary(summary)
    if (!context.argv.includes(name)) continue
    const { define } = await load()
    await define(command, context)
  }
}
