import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'

/**
 * Compiles programs of this repository, with what they import of it, before the tests of a file: to compile them anew in each
 * of their processes takes longer than what is tested. Installed packages stay outside.
 *
 * @param files - from the root of the repository: `'examples/webhook-node.ts'`
 * @returns gives the path of what a file became, for `node`; it is gone after the tests
 */
export function compiled(...files: readonly string[]): (file: string) => string {
  let folder: string
  beforeAll(async () => {
    // From there the packages are found.
    folder = mkdtempSync(pathTo('node_modules/.programs-'))
    await build({
      absWorkingDir: pathTo('.'),
      entryPoints: [...files],
      outdir: folder,
      outbase: '.',
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
      sourcemap: 'inline',
      sourcesContent: false,
      logLevel: 'error',
    })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return (file) => join(folder, file.replace(/\.ts$/, '.mjs'))
}
