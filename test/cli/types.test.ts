import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { writeTypes } from '../../src/cli/types.ts'
import { jsonOf, run, scratchFolder } from './command.ts'
import { listeningService } from './service.ts'

const campaign = (actions: readonly object[], quests: readonly object[] = []) =>
  ({ id: 'demo', name: 'Demo', actions, quests }) as unknown as Parameters<typeof writeTypes>[0]

type Declared = ts.TypeNode | ts.InterfaceDeclaration

/** Returns the type aliases and interfaces of a file. Fails if the file has anything else. */
function typesOf(source: string): ReadonlyMap<string, Declared> {
  const file = ts.createSourceFile('types.ts', source, ts.ScriptTarget.Latest, true)
  expect((file as unknown as { parseDiagnostics: readonly unknown[] }).parseDiagnostics).toEqual([])
  return new Map(
    file.statements.map((statement): [string, Declared] => {
      if (ts.isTypeAliasDeclaration(statement)) return [statement.name.text, statement.type]
      if (ts.isInterfaceDeclaration(statement)) return [statement.name.text, statement]
      throw new Error(`neither a type nor an interface: ${statement.getText()}`)
    }),
  )
}

/** Returns the strings of a union. */
function membersOf(type: Declared | undefined): string[] {
  if (type === undefined || type.kind === ts.SyntaxKind.NeverKeyword) return []
  const members = ts.isUnionTypeNode(type as ts.TypeNode) ? [...(type as ts.UnionTypeNode).types] : [type]
  return members.map((member) => ((member as ts.LiteralTypeNode).literal as ts.StringLiteral).text)
}

test('writes the ids of a campaign with their names and the types of their metadata', async () => {
  const { env } = await listeningService()
  const { code, stdout, stderr } = await run(['types', 'demo'], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatchInlineSnapshot(`
    "// Campaign demo: Demo campaign
    // Written by \`campaign-client types\`. Do not edit: run the command again when the campaign changes.

    /** ID of a task: \`aid\` in calls, \`id\` in progress and webhook messages. */
    export type TaskId =
      | 'connect-wallet' // Connect a wallet
      | 'daily-visit' // Visit every day
      | 'feedback' // Leave feedback
      | 'follow' // Follow the project
      | 'share' // Share a post

    /** ID of a quest: \`cid\` in calls, \`id\` in progress and webhook messages. */
    export type QuestId =
      | 'spread-the-word' // Spread the word
      | 'welcome' // Welcome

    /** Metadata of each task when this file was written. */
    export interface TaskMeta {
      'connect-wallet': { icon: string; url: string }
      'daily-visit': Record<string, never>
      feedback: Record<string, never>
      follow: Record<string, never>
      share: Record<string, never>
    }

    /** Metadata of each quest when this file was written. */
    export interface QuestMeta {
      'spread-the-word': { badge: string }
      welcome: Record<string, never>
    }
    "
  `)
})

test('writes to a file, and reports it with --json', async () => {
  const { env } = await listeningService()
  const file = join(scratchFolder(), 'campaign.ts')
  const ended = await run(['types', 'demo', '--out', file, '--json'], { env })
  expect(jsonOf(ended)).toEqual({ version: 2, pid: 'demo', tasks: 5, quests: 2, file })
  expect(ended.stderr).toContain(`wrote ${file}`)
  expect(readFileSync(file, 'utf8')).toBe((await run(['types', 'demo'], { env })).stdout)
})

test('overwrites a file that it wrote, and any other file only with --force', async () => {
  const { env } = await listeningService()
  const cwd = scratchFolder()
  const args = ['types', 'demo', '--out', 'campaign.ts']
  expect(await run(args, { env, cwd })).toMatchObject({ code: 0 })
  expect(await run(args, { env, cwd })).toMatchObject({ code: 0 })
  writeFileSync(join(cwd, 'campaign.ts'), 'export const mine = 1\n')
  const refused = await run(args, { env, cwd })
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('this command did not write it') })
  expect(refused.stderr).toContain('--force')
  expect(readFileSync(join(cwd, 'campaign.ts'), 'utf8')).toBe('export const mine = 1\n')
  expect(await run([...args, '--force'], { env, cwd })).toMatchObject({ code: 0 })
  expect(readFileSync(join(cwd, 'campaign.ts'), 'utf8')).toContain('TaskId')
})

test('--force does not overwrite the token file', async () => {
  const { env } = await listeningService()
  const cwd = scratchFolder()
  writeFileSync(join(cwd, 'token.txt'), 'a-token')
  const { code } = await run(['types', 'demo', '--out', 'token.txt', '--force'], {
    env: { ...env, CAMPAIGN_ACCESS_TOKEN: '', CAMPAIGN_ACCESS_TOKEN_FILE: 'token.txt' },
    cwd,
  })
  expect({ code, token: readFileSync(join(cwd, 'token.txt'), 'utf8') }).toEqual({ code: 2, token: 'a-token' })
})

test('names the missing folder of --out, before a request is sent', async () => {
  const { env, service } = await listeningService()
  const { code, stderr } = await run(['types', 'demo', '--out', 'src/campaign.ts'], { env, cwd: scratchFolder() })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('there is no folder "src"') })
  expect(service.requests).toEqual([])
})

test('refuses a file that cannot be written, and an unknown campaign', async () => {
  const { env } = await listeningService()
  const folder = scratchFolder()
  writeFileSync(join(folder, 'file'), '')
  const unwritable = await run(['types', 'demo', '--out', join(folder, 'file', 'x.ts')], { env })
  expect(unwritable).toMatchObject({ code: 2, stdout: '' })
  expect(unwritable.stderr).toContain('cannot be written: a part of its path is not a directory')
  expect(await run(['types', 'nope'], { env })).toMatchObject({ code: 3, stdout: '' })
})

test('writes the same file for another order of tasks', () => {
  const items = [
    { id: 'b', name: 'B', meta: { z: 1, a: [1, 'x', null, { q: true }] } },
    { id: 'a', name: 'A' },
  ]
  expect(writeTypes(campaign(items))).toBe(writeTypes(campaign([...items].reverse())))
  expect(writeTypes(campaign(items))).toContain('b: { a: (null | number | string | { q: boolean })[]; z: number }')
})

test.each<[unknown, string]>([
  [{ a: 1, 'b-c': true, d: null }, "{ a: number; 'b-c': boolean; d: null }"],
  [{ a: {}, b: { c: 'x' } }, '{ a: Record<string, never>; b: { c: string } }'],
  [{ a: [], b: ['x', 'y'] }, '{ a: unknown[]; b: string[] }'],
  [{ a: [['x']], b: [1, 'x'] }, '{ a: (string[])[]; b: (number | string)[] }'],
  [{ a: { a: { a: { a: { a: { a: { a: { a: 1 } } } } } } } }, `${'{ a: '.repeat(8)}unknown${' }'.repeat(8)}`],
  [{}, 'Record<string, never>'],
  [null, 'Record<string, never>'],
  [undefined, 'Record<string, never>'],
])('the metadata %j has the type %s', (meta, type) => {
  expect(writeTypes(campaign([{ id: 'x', name: 'X', meta }]))).toContain(`TaskMeta {\n  x: ${type}\n}`)
})

test('an ID that the campaign has twice is written once', () => {
  const types = typesOf(
    writeTypes(
      campaign([
        { id: 'x', name: 'one' },
        { id: 'x', name: 'other' },
      ]),
    ),
  )
  expect(membersOf(types.get('TaskId'))).toEqual(['x'])
  expect((types.get('TaskMeta') as ts.InterfaceDeclaration).members).toHaveLength(1)
})

test('writes the types of an empty campaign', () => {
  const types = typesOf(writeTypes(campaign([])))
  expect(membersOf(types.get('TaskId'))).toEqual([])
})

test.each([
  ["'; process.exit(1); '", 'x'],
  ['x', '*/ process.exit(1) /*'],
  ['x', 'a\nprocess.exit(1)'],
  ['x', 'a\r\nprocess.exit(1)'],
  ['x', 'a\u2028process.exit(1)//\u2029process.exit(1)'],
  ['\\', '\\'],
  ["\\'; process.exit(1) //", '` + process.exit(1) + `'],
  ['__proto__', 'x'],
])('the ID %j and the name %j do not end their string or comment', (id, name) => {
  const types = typesOf(writeTypes(campaign([{ id, name, meta: { [id]: name, [name]: { [id]: 1 } } }], [{ id, name }])))
  expect([...types.keys()]).toEqual(['TaskId', 'QuestId', 'TaskMeta', 'QuestMeta'])
  expect(membersOf(types.get('TaskId'))).toEqual([id])
})

test('writes a valid file with the same IDs for any IDs, names and metadata', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string())
  const item = fc.record({
    id: text,
    name: text,
    meta: fc.option(fc.dictionary(text, fc.jsonValue(), { maxKeys: 3 }), { nil: null }),
  })
  fc.assert(
    fc.property(fc.array(item, { maxLength: 3 }), (items) => {
      const types = typesOf(writeTypes(campaign(items)))
      expect(new Set(membersOf(types.get('TaskId')))).toEqual(new Set(items.map(({ id }) => id)))
    }),
    { numRuns: 60 },
  )
})
