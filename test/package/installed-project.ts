import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type PackedPackage, ROOT } from './packed-package.ts'

/**
 * Lends a project that has the packed package and its dependency, and nothing else. It is far from the repository, whose
 * tsconfig.json and node_modules would otherwise be found on the way up.
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
