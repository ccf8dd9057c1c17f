import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { runCommand } from '../command.ts'
import type { PackedPackage } from '../packed-package.ts'
import { isOfCommand } from './command.ts'
import type { PackageCheck } from './finding.ts'

/** The heading that the bundler puts above each module it took in. */
const HEADING = /^\/\/ ((?:src|node_modules)\/\S+)$/
/** What a minifier makes of a name. */
const SHORTENED = /^#?[a-zA-Z]\d?$/
/**
 * The package has no source maps: with the sources in them, twice, they would be most of it. Instead a stack says by
 * itself where to look: functions and classes have their own names, each plain statement has its line, and each part
 * stands below the name of the file it comes from.
 */
export const checkStacks: PackageCheck = {
  title: 'stacks: name our functions, and lead to one statement below the name of its source, in both formats',
  async run(packed) {
    const problems = packed.files.filter((file) => file.endsWith('.map')).map((file) => `${file} is in the tarball`)
    for (const file of packed.files.filter((name) => /\.c?js$/.test(name) && !isOfCommand(name))) {
      problems.push(...readingProblems(packed, file))
    }
    for (const format of ['import', 'require'] as const) problems.push(...(await traceProblems(packed, format)))
    return { problems, notes: [] }
  },
}

/** What a frame of a stack could not show: a name that was shortened, or which statement of its line it means. */
function readingProblems(packed: PackedPackage, file: string): string[] {
  const problems: string[] = []
  const source = ts.createSourceFile(
    file,
    linesOf(packed, file).join('\n'),
    ts.ScriptTarget.ES2022,
    true,
    ts.ScriptKind.JS,
  )
  const lineOf = (node: ts.Node): number => source.getLineAndCharacterOfPosition(node.getStart(source)).line
  const visit = (node: ts.Node): void => {
    const isNamed = ts.isFunctionDeclaration(node) || ts.isClassLike(node) || isFunctionMember(node)
    const name = isNamed ? node.name?.getText(source) : undefined
    if (name !== undefined && SHORTENED.test(name))
      problems.push(`${file}:${lineOf(node) + 1}: ${name} is a short name`)
    if (ts.isSourceFile(node) || ts.isBlock(node)) {
      const lines = node.statements.filter(isPlain).map(lineOf)
      for (const [index, line] of lines.entries()) {
        if (line === lines[index - 1]) problems.push(`${file}:${line + 1} has two statements`)
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return problems
}

const isFunctionMember = (node: ts.Node): node is ts.ClassElement =>
  ts.isMethodDeclaration(node) ||
  ts.isAccessor(node) ||
  (ts.isPropertyDeclaration(node) && node.initializer !== undefined && ts.isFunctionLike(node.initializer))

/** Without blocks, and not to be taken for a part of the line above. */
const isPlain = (node: ts.Statement): boolean =>
  (ts.isExpressionStatement(node) && !/^[[(]/.test(node.getText())) ||
  ts.isVariableStatement(node) ||
  ts.isReturnStatement(node) ||
  ts.isThrowStatement(node)

/** The modules of each file of code, ours and others', by the headings above them. */
export function modulesOf(packed: PackedPackage, file: string): string[] {
  return linesOf(packed, file).flatMap((line) => HEADING.exec(line)?.[1] ?? [])
}

/** Lets the constructor of the client throw, and looks up what stands where the stack points to. */
async function traceProblems(packed: PackedPackage, format: 'import' | 'require'): Promise<string[]> {
  const { directory, manifest } = packed
  const root = manifest.exports['.']
  if (root === undefined || typeof root === 'string') return ['the package has no root entry with both formats']
  const target = join(directory, root[format].default)
  const probe = join(directory, '..', `trace.${format === 'import' ? 'mjs' : 'cjs'}`)
  const load =
    format === 'import'
      ? `import { CampaignClient } from ${JSON.stringify(pathToFileURL(target).href)}`
      : `const { CampaignClient } = require(${JSON.stringify(target)})`
  writeFileSync(
    probe,
    `${load}\ntry { new CampaignClient({ baseUrl: 'no url', accessToken: 'x' }) } catch (error) { console.log(error.stack) }\n`,
  )
  const { output } = await runCommand(process.execPath, [probe], { cwd: directory })
  const frames = [...output.matchAll(/^ +at (.+) \((?:file:\/\/)?([^()]+):(\d+):\d+\)$/gm)].map(
    ([, name = '', path = '', line]) => ({ name, file: relative(directory, path), line: Number(line) }),
  )
  const [thrower] = frames
  if (thrower === undefined) return [`${format}: a stack without frames:\n${output}`]
  const lines = linesOf(packed, thrower.file)
  const statement = lines[thrower.line - 1] ?? ''
  const heading = lines.slice(0, thrower.line).findLast((line) => HEADING.test(line)) ?? ''
  const problems: string[] = []
  if (!/new [\w$.]*ConfigurationError\(/.test(statement)) {
    problems.push(
      `${format}: a stack leads to line ${thrower.line} of ${thrower.file}, which throws nothing: ${statement}`,
    )
  }
  if (!heading.startsWith('// src/')) problems.push(`${format}: ${thrower.file} does not say which source it came from`)
  if (!frames.some(({ name }) => name === 'new CampaignClient')) {
    problems.push(`${format}: a stack does not name the constructor of the client:\n${output}`)
  }
  return problems
}

const linesOf = ({ directory }: PackedPackage, file: string): string[] =>
  readFileSync(join(directory, file), 'utf8').split('\n')
