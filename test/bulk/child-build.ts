import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll } from 'vitest'
import { sourcesByName } from '../../scripts/entry-points.ts'

/**
 * Compiles a program of this folder, with all it imports from the package, so that many processes of it start fast.
 *
 * @returns the path of the program, which is gone after the tests of the file
 */
export async function buildChild(name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-child-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, `${name}.mjs`)
  await build({
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    alias: Object.fromEntries(
      Object.entries(sourcesByName).map(([specifier, source]) => [
        specifier,
        fileURLToPath(new URL(`../../${source}`, import.meta.url)),
      ]),
    ),
    // Some of what is bundled is CommonJS and calls for the modules of Node.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  })
  return outfile
}
