import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { EXIT, type ExitCode } from '../exit.ts'
import { fileFailure } from '../files.ts'
import { collectPairs, type Pair } from '../flags.ts'
import { examples, type Frame } from '../frame.ts'
import { bold, dim } from '../output.ts'
import { writeTypes } from './write-types.ts'

interface TypesFlags {
  readonly out?: string
  readonly query?: readonly Pair[]
}

/** `campaign-client types PID` */
export function define(command: Command, frame: Frame): void {
  command
    .usage('PID [options]')
    .description("Writes a .ts file with a campaign's task and quest ids as unions, and the types of their metadata.")
    .argument('<pid>', 'campaign ID')
    .option('--out <file>', 'write to this file in place of standard output')
    .option(
      '--query <name=value>',
      'a query parameter that the interface does not show; may be repeated, with another name',
      collectPairs,
    )
    .addHelpText('after', examples('types demo --out src/campaign.ts', 'types demo --query env=dev'))
    .action(frame.action((pid: string, flags: TypesFlags) => types(pid, flags, frame)))
}

async function types(pid: string, { out: file, query }: TypesFlags, { output, env }: Frame): Promise<ExitCode> {
  const client = await connect(env)
  const campaign = await client.getCampaignInfo({ pid }, query && { query: Object.fromEntries(query) })
  const source = writeTypes(campaign)
  if (file !== undefined) {
    await writeFile(file, source).catch((error: unknown) => {
      throw fileFailure(`"${file}" cannot be written`, error)
    })
  }
  const counts = { tasks: campaign.actions.length, quests: campaign.quests.length }
  output.result({ pid, ...counts, ...(file === undefined ? { source } : { file }) }, (out) => {
    if (file === undefined) out.write(source)
  })
  if (file !== undefined) output.err.line('wrote ', bold(file), dim(`  ${counts.tasks} tasks, ${counts.quests} quests`))
  return EXIT.done
}
