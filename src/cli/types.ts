import { readFile } from 'node:fs/promises'
import type { CampaignInfo } from '../endpoints/get-campaign-info.ts'
import type { Metadata } from '../schemas/fields.ts'
import { toVisible } from '../shared/text.ts'
import { type Command, type Context, type Pair, queryOption, text } from './command.ts'
import { connect, tokenFilesOf } from './connection.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { usageFailure } from './failure.ts'
import { checkOutputFile, outputFailure, replaceFile } from './files.ts'
import { bold, dim } from './output.ts'

interface TypesFlags {
  readonly out?: string
  readonly force?: boolean
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
    .option('--out <file>', 'file to write (default: standard output)', text)
    .option('--force', 'overwrite a file that this command did not write')
    .addOption(queryOption())
    .examples('types demo --out src/campaign.ts', 'types demo --query env=dev')
    .run((pid: string, flags: TypesFlags) => types(pid, flags, context))
}

async function types(pid: string, flags: TypesFlags, { output, env }: Context): Promise<ExitCode> {
  const { out: file, query, force = false } = flags
  const client = await connect(env)
  if (file !== undefined) await checkTypesFile(file, force, env)
  const campaign = await client.getCampaignInfo({ pid }, query && { query: Object.fromEntries(query) })
  const source = writeTypes(campaign)
  if (file !== undefined) {
    await replaceFile(file, source).catch((error: unknown) => {
      throw outputFailure('--out', file, error)
    })
  }
  const counts = { tasks: campaign.actions.length, quests: campaign.quests.length }
  output.result({ pid, ...counts, ...(file === undefined ? { source } : { file }) }, (out) => {
    if (file === undefined) out.write(source)
  })
  if (file !== undefined) output.err.line('wrote ', bold(file), dim(`  ${counts.tasks} tasks, ${counts.quests} quests`))
  return EXIT.done
}

/** @throws CommandFailure when the file cannot be written, or was not written by this command */
async function checkTypesFile(file: string, force: boolean, env: NodeJS.ProcessEnv): Promise<void> {
  await checkOutputFile('--out', file, tokenFilesOf(env))
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw outputFailure('--out', file, error)
  })
  if (force || content.trim() === '' || content.includes(WRITTEN_BY)) return
  throw usageFailure(`--out "${file}" exists, and this command did not write it`, 'choose another file, or add --force')
}

const WRITTEN_BY = '// Written by `campaign-client types`.'

interface Item {
  readonly id: string
  readonly name: string
  readonly meta?: Metadata | null | undefined
}

/**
 * Writes the types of a campaign. Sorts the IDs, so that a small change of the campaign is a small diff. Escapes names and
 * IDs, so that they cannot end their comment or string.
 */
export function writeTypes({ id, name, actions, quests }: CampaignInfo): string {
  const tasks = sorted(actions)
  const sortedQuests = sorted(quests)
  return [
    `// Campaign ${toVisible(id)}: ${toVisible(name)}`,
    `${WRITTEN_BY} Do not edit: run the command again when the campaign changes.`,
    '',
    '/** ID of a task: `aid` in calls, `id` in progress and webhook messages. */',
    union('TaskId', tasks),
    '',
    '/** ID of a quest: `cid` in calls, `id` in progress and webhook messages. */',
    union('QuestId', sortedQuests),
    '',
    '/** Metadata of each task when this file was written. */',
    metadata('TaskMeta', tasks),
    '',
    '/** Metadata of each quest when this file was written. */',
    metadata('QuestMeta', sortedQuests),
    '',
  ].join('\n')
}

/** Sorts by ID and removes duplicates. */
function sorted(items: readonly Item[]): readonly Item[] {
  const byId = new Map(items.map((item) => [item.id, item]))
  // By UTF-16 code unit: the order of a locale differs between machines.
  return [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
}

function union(type: string, items: readonly Item[]): string {
  if (items.length === 0) return `export type ${type} = never`
  return `export type ${type} =\n${items.map(({ id, name }) => `  | ${literal(id)} // ${toVisible(name)}`).join('\n')}`
}

function metadata(type: string, items: readonly Item[]): string {
  if (items.length === 0) return `export type ${type} = Record<never, never>`
  const fields = items.map(({ id, meta }) => `  ${key(id)}: ${typeOf(meta ?? {}, 1)}`)
  return `export interface ${type} {\n${fields.join('\n')}\n}`
}

/** Deeper values become `unknown`. */
const MAX_DEPTH = 8

function typeOf(value: unknown, depth: number): string {
  if (value === null) return 'null'
  if (depth > MAX_DEPTH) return 'unknown'
  if (Array.isArray(value)) return arrayType(value, depth)
  if (typeof value === 'object') return objectType(value as Record<string, unknown>, depth)
  return typeof value
}

function arrayType(values: readonly unknown[], depth: number): string {
  const types = [...new Set(values.map((value) => typeOf(value, depth + 1)))].sort()
  return types.length === 0
    ? 'unknown[]'
    : types.length === 1 && /^\w+$/.test(types[0] ?? '')
      ? `${types[0]}[]`
      : `(${types.join(' | ')})[]`
}

function objectType(value: Record<string, unknown>, depth: number): string {
  const names = Object.keys(value).sort()
  if (names.length === 0) return 'Record<string, never>'
  return `{ ${names.map((name) => `${key(name)}: ${typeOf(value[name], depth + 1)}`).join('; ')} }`
}

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name))

/** Formats a text as a string literal. */
const literal = (text: string): string =>
  `'${toVisible(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')).replaceAll("'", "\\'")}'`
