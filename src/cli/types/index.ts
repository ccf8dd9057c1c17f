import { writeFile } from 'node:fs/promises'
import type { Command, Context } from '../commands.ts'
import { connect } from '../connect.ts'
import { EXIT, type ExitCode } from '../failure.ts'
import { fileFailure } from '../files.ts'
import { type Pair, queryOption } from '../flags.ts'
import { bold, dim } from '../output.ts'
import { writeTypes } from './write-types.ts'

interface TypesFlags {
  readonly out?: string
  readonly query?: readonly Pair[]
}

/** `campaign-client types PID` */
export function define(command: Command, context: Context): void {
  command
    .usage('PID [options]')
    .description(
      'Writes a TypeScript file with the task and quest IDs of a campaign as unions, and the types of their metadata.',
    )
    .argument('<pid>', 'campaign ID')
    .option('--out <file>', 'file to write (default: standard output)')
    .addOption(queryOption())
    .examples('types demo --out src/campaign.ts', 'types demo --query env=dev')
    .run((pid: string, flags: TypesFlags) => types(pid, flags, context))
}

async function types(pid: string, { out: file, query }: TypesFlags, { output, env }: Context): Promise<ExitCode> {
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
