import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import ts from 'typescript'
import { runCommand } from '../command.ts'
import type { PackedPackage } from '../packed-package.ts'
import type { PackageCheck } from './finding.ts'

/**
 * The allowed imports: the package's own files, Node's modules, zod, and msw as an optional peer. The proxy agent of the command
 * loads kerberos only for Negotiate authentication, which the command does not support.
 */
const ALLOWED_IMPORTS = /^(?:\.|node:|zod(?:\/|$)|msw(?:\/|$)|kerberos$)/
const MACHINE_PATH = /(?:^|["'\s])(?:\/(?:home|root|tmp|work|Users)\/|[A-Z]:\\)/m

/**
 * Checks that each entry has code and declarations in both formats, every relative import resolves, every other import is
 * allowed, and every file parses. Other tools do not check this: attw accepts a package without types, and bundlers do not
 * report external dependencies.
 */
export const checkEntryPoints: PackageCheck = {
  title: 'entry points: code and declarations in both formats, every import allowed',
  async run(packed) {
    const problems = [
      ...missingTargets(packed),
      ...badImports(packed),
      ...packagesOfWebhook(packed),
      ...(await syntaxErrors(packed)),
    ]
    const code = packed.files.filter(isCode).length
    const entries = Object.keys(packed.manifest.exports)
    return { problems, notes: [`${entries.length} entries, ${code} files of code`] }
  },
}

const isCode = (file: string): boolean => /\.(?:c?js)$/.test(file)
const isDeclaration = (file: string): boolean => /\.d\.c?ts$/.test(file)

function missingTargets({ manifest, directory }: PackedPackage): string[] {
  const problems: string[] = []
  for (const [entry, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') {
      if (!existsSync(join(directory, target))) problems.push(`${entry}: ${target} is not in the tarball`)
      continue
    }
    for (const format of ['import', 'require'] as const) {
      const { types, default: code } = target[format]
      for (const file of [types, code]) {
        if (!existsSync(join(directory, file))) problems.push(`${entry} (${format}): ${file} is not in the tarball`)
        else if (!/\bexports?\b[^;]*\w/.test(readFileSync(join(directory, file), 'utf8'))) {
          problems.push(`${entry} (${format}): ${file} exports nothing`)
        }
      }
      const extension = format === 'import' ? '.d.ts' : '.d.cts'
      if (!types.endsWith(extension)) problems.push(`${entry} (${format}): types must end in ${extension}: ${types}`)
    }
  }
  for (const [name, choice] of Object.entries(manifest.imports)) {
    for (const file of Object.values(choice).flatMap((sides) => Object.values(sides))) {
      if (!existsSync(join(directory, file))) problems.push(`${name}: ${file} is not in the tarball`)
    }
  }
  return problems
}

function badImports({ files, directory, manifest }: PackedPackage): string[] {
  const problems: string[] = []
  for (const file of files.filter((name) => isCode(name) || isDeclaration(name))) {
    const text = readFileSync(join(directory, file), 'utf8')
    if (MACHINE_PATH.test(text)) problems.push(`${file} names a path of the machine it was built on`)
    for (const { fileName: specifier } of ts.preProcessFile(text, true, true).importedFiles) {
      if (Object.hasOwn(manifest.imports, specifier)) continue
      if (!ALLOWED_IMPORTS.test(specifier)) problems.push(`${file} imports ${specifier}, which partners do not install`)
      else if (specifier.startsWith('.') && !resolves(directory, file, specifier)) {
        problems.push(`${file} imports ${specifier}, which is not in the tarball`)
      }
    }
  }
  return problems
}

/** Returns a problem for each file with zod or ky that `/webhook` loads: modules share files. */
function packagesOfWebhook({ directory }: PackedPackage): string[] {
  const loaded = new Map<string, string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    const text = readFileSync(join(directory, file), 'utf8')
    loaded.set(file, text)
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      if (fileName.startsWith('.')) load(join(dirname(file), fileName))
    }
  }
  load('dist/webhook.js')
  load('dist/webhook.cjs')
  return [...loaded]
    .filter(([, text]) => /^\/\/ (?:node_modules\/zod\/|first-use:ky)/m.test(text))
    .map(([file]) => `campaign-client/webhook loads ${file}, which contains zod or ky`)
}

function resolves(directory: string, file: string, specifier: string): boolean {
  const target = join(directory, dirname(file), specifier)
  const candidate = isDeclaration(file) ? target.replace(/\.(c?)js$/, '.d.$1ts') : target
  return existsSync(candidate)
}

async function syntaxErrors({ files, directory }: PackedPackage): Promise<string[]> {
  const problems: string[] = []
  for (const file of files.filter(isCode)) {
    const path = join(directory, file)
    const { code, output } = await runCommand(process.execPath, ['--check', path], { cwd: directory })
    if (code !== 0) problems.push(`${relative(directory, path)} does not parse:\n${output}`)
  }
  return problems
}
