import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type PackedPackage, ROOT } from './packed-package.ts'

/**
 * Runs a function in a temporary project with only the packed package and zod. The project is outside the repository, so that
 * tools do not find the repository's tsconfig.json and node_modules.
 */
export async function withInstalledProject<Result>(
  packed: PackedPackage,
  use: (project: string) => Promise<Result>,
): Promise<Result> {
  const project = mkdtempSync(join(tmpdir(), 'campaign-client-'))
  try {
    const target = join(project, 'node_modules', packed.manifest.name)
    mkdirSync(dirname(target), { recursive: true })
    cpSync(packed.directory, target, { recursive: true })
    const zod = join(ROOT, 'node_modules/zod')
    if (!existsSync(zod)) throw new Error('zod is not installed: run npm ci')
    symlinkSync(zod, join(project, 'node_modules/zod'))
    return await use(project)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}
