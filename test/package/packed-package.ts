import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mustRun } from './command.ts'

/** The repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The files and folders that decide the content of the tarball. */
const INPUTS = [
  'src',
  'docs',
  'examples',
  'package.json',
  'package-lock.json',
  'tsconfig.base.json',
  'scripts/entry-points.ts',
  'tsup.config.ts',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'THIRD-PARTY-NOTICES.md',
  'AGENTS.md',
  'sbom.cdx.json',
  'skills',
]

/** The fields of package.json that the checks read. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | ByFormat<ExportTarget>>>
  /** Internal specifiers such as `#crypto`. Node.js takes the file under `node`, other runtimes the file under `default`. */
  readonly imports: Readonly<Record<string, ByFormat<Readonly<Record<'node' | 'default', string>>>>>
}

type ByFormat<Target> = Readonly<Record<'import' | 'require', Target>>

/** The files of an entry point in one format. */
export interface ExportTarget {
  readonly types: string
  readonly default: string
}

/** The package as `npm publish` uploads it. */
export interface PackedPackage {
  /** The path of the tarball. */
  readonly tarball: string
  /** The folder with the unpacked tarball. */
  readonly directory: string
  readonly manifest: Manifest
  /** Its files, relative to `directory`. */
  readonly files: readonly string[]
}

/** Builds and packs the package, or reuses the tarball of the same inputs. */
export async function packPackage(): Promise<PackedPackage> {
  const store = join(ROOT, 'reports/package')
  const folder = join(store, inputsHash())
  if (!existsSync(folder)) {
    rmSync(store, { recursive: true, force: true })
    const draft = join(store, 'draft')
    mkdirSync(draft, { recursive: true })
    await mustRun('npm', ['pack', '--pack-destination', draft], { cwd: ROOT })
    await mustRun('tar', ['-xzf', tarballIn(draft), '-C', draft], { cwd: ROOT })
    renameSync(draft, folder)
  }
  const directory = join(folder, 'package')
  return {
    tarball: tarballIn(folder),
    directory,
    manifest: JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest,
    files: filesBelow(directory).map((file) => relative(directory, file)),
  }
}

function tarballIn(directory: string): string {
  const name = readdirSync(directory).find((file) => file.endsWith('.tgz'))
  if (name === undefined) throw new Error(`no tarball in ${directory}`)
  return join(directory, name)
}

function inputsHash(): string {
  const hash = createHash('sha256')
  for (const input of INPUTS) {
    const path = join(ROOT, input)
    const files = !existsSync(path) ? [] : statSync(path).isDirectory() ? filesBelow(path) : [path]
    for (const file of files)
      hash
        .update(`${relative(ROOT, file)}\0`)
        .update(readFileSync(file))
        .update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}

function filesBelow(directory: string): string[] {
  return (
    readdirSync(directory, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // The built site is not in the tarball.
      .filter((file) => !file.startsWith(join(ROOT, 'docs/site')))
      .sort()
  )
}
