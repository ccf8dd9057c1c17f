import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { pathTo } from '../../scripts/repository.ts'

/** Parts of the published package, and zod, start twice as fast in a bundle. Other packages cannot all be bundled. */
const BUNDLED = ['ky', 'jose', '@noble/hashes', 'zod']
const external = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
  (name) => !BUNDLED.includes(name),
)

/**
 * Bundles programs of this repository before the tests of a file, because compiling them in each process is slow.
 *
 * @param files - paths in the repository, such as `'examples/webhook-node.ts'`
 * @returns a function from a file to its compiled path, which exists until the tests end
 */
export function compiled(...files: readonly string[]): (file: string) => string {
  let folder: string
  beforeAll(async () => {
    // Inside the repository, so that Node finds the installed packages.
    folder = mkdtempSync(pathTo('node_modules/.programs-'))
    await build({
      absWorkingDir: pathTo('.'),
      entryPoints: [...files],
      outdir: folder,
      outbase: '.',
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      external,
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
