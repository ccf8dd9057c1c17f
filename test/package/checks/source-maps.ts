import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCommand } from '../command.ts'
import type { PackedPackage } from '../packed-package.ts'
import type { PackageCheck } from './finding.ts'

interface SourceMap {
  readonly version: number
  readonly sources: readonly string[]
  readonly sourcesContent?: readonly (string | null)[]
  readonly mappings: string
}

/** Every file of code with the map it names. */
export function* sourceMapsOf({ files, directory }: PackedPackage): Generator<{ file: string; map: SourceMap }> {
  for (const file of files.filter((name) => /\.c?js$/.test(name))) {
    const comment = /^\/\/# sourceMappingURL=(\S+)\s*$/gm
    const [url] = [...readFileSync(join(directory, file), 'utf8').matchAll(comment)].map((match) => match[1])
    const path = url === undefined ? undefined : join(directory, dirname(file), url)
    if (path === undefined || !existsSync(path)) continue
    yield { file, map: JSON.parse(readFileSync(path, 'utf8')) as SourceMap }
  }
}

/** Debuggers find the sources: each map carries them, and a thrown error is traced to the line that threw it. */
export const checkSourceMaps: PackageCheck = {
  title: 'source maps: every one carries its sources, stacks lead to them in both formats',
  async run(packed) {
    const problems: string[] = []
    const mapped = new Set<string>()
    for (const { file, map } of sourceMapsOf(packed)) {
      mapped.add(file)
      if (map.version !== 3) problems.push(`${file}: not a source map of version 3`)
      for (const [index, source] of map.sources.entries()) {
        if (typeof map.sourcesContent?.[index] !== 'string')
          problems.push(`${file}: the map lacks the text of ${source}`)
        if (source.startsWith('/') || source.includes('://')) problems.push(`${file}: absolute source ${source}`)
      }
    }
    for (const file of packed.files) {
      if (/\.c?js$/.test(file) && !mapped.has(file)) problems.push(`${file}: no map, or one that is not in the tarball`)
    }
    for (const format of ['import', 'require'] as const) problems.push(...(await traceProblems(packed, format)))
    return { problems, notes: [`${mapped.size} maps`] }
  },
}

/** Lets the constructor of the client throw, and looks up what stands where the stack points to. */
async function traceProblems({ directory, manifest }: PackedPackage, format: 'import' | 'require'): Promise<string[]> {
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
  const { output } = await runCommand(process.execPath, ['--enable-source-maps', probe], { cwd: directory })
  const traced = /\((?:file:\/\/)?[^()]*?\/(src\/[\w/-]+\.ts):(\d+):\d+\)/.exec(output)
  if (traced === null) return [`${basename(target)}: a stack does not lead to src/:\n${output}`]
  const [, source = '', line] = traced
  const text = sourceLine(`${target}.map`, source, Number(line))
  if (text?.includes('new ConfigurationError(')) return []
  return [`${basename(target)}: a stack leads to line ${line} of ${source}, which throws nothing: ${text ?? '(none)'}`]
}

function sourceLine(mapFile: string, source: string, line: number): string | undefined {
  const map = JSON.parse(readFileSync(mapFile, 'utf8')) as SourceMap
  const index = map.sources.findIndex((name) => name.endsWith(source))
  return map.sourcesContent?.[index]?.split('\n')[line - 1]
}
