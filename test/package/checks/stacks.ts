import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCommand } from '../command.ts'
import type { PackedPackage } from '../packed-package.ts'
import type { PackageCheck } from './finding.ts'

/** The heading that the bundler puts above each module it took in. */
const HEADING = /^\/\/ ((?:src|node_modules)\/\S+)$/
/** Code that people wrote has lines of this length at most, on average; minified code is one line. */
const AVERAGE_LINE = 80

/**
 * The package has no source maps: with the sources in them, twice, they would be three quarters of it. Instead, what is
 * installed can be read: under our own names, line by line, each part below the name of the file it comes from.
 */
export const checkStacks: PackageCheck = {
  title: 'stacks: lead to lines that can be read, below the name of their source, in both formats',
  async run(packed) {
    const problems = packed.files.filter((file) => file.endsWith('.map')).map((file) => `${file} is in the tarball`)
    for (const file of packed.files.filter((name) => /\.c?js$/.test(name))) {
      // A file without modules of its own is one long line of names that it exports.
      if (modulesOf(packed, file).length === 0) continue
      const lines = linesOf(packed, file)
      const average = lines.join('').length / lines.length
      if (average > AVERAGE_LINE) problems.push(`${file}: ${average.toFixed(0)} characters a line: is it minified?`)
    }
    for (const format of ['import', 'require'] as const) problems.push(...(await traceProblems(packed, format)))
    return { problems, notes: [] }
  },
}

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
