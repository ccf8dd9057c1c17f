import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { pathTo } from '../../scripts/repository.ts'
import { MUTATIONS, type Mutation } from './mutations.ts'

const SEEDS = '2000'
const run = promisify(execFile)

/**
 * Simulates worlds with the package, then with each mutation of it.
 *
 * @param only - a part of the names of the mutations to try
 * @returns whether the package breaks no invariant, and each mutation does
 */
export async function prove(only?: string): Promise<boolean> {
  let isProven = true
  for (const world of only === undefined ? (['awards', 'events'] as const) : []) {
    const found = await detect({ name: 'none', world, file: 'src/index.ts', from: UNCHANGED, to: UNCHANGED })
    isProven &&= found === ''
    console.log(`the unchanged package, ${world}: ${found || 'no violation'}`)
  }
  for (const mutation of MUTATIONS) {
    if (only !== undefined && !mutation.name.includes(only)) continue
    const found = await detect(mutation)
    isProven &&= found !== ''
    console.log(`${mutation.name}: ${found || 'NOT DETECTED'}`)
  }
  return isProven
}

/** A text of `src/index.ts`. */
const UNCHANGED = 'export { CampaignClient }'

/** Returns the seed and the broken invariant; empty if no world broke one. */
async function detect({ world, file, from, to }: Mutation): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-mutation-'))
  const path = pathTo(file)
  const source = readFileSync(path, 'utf8')
  if (source.split(from).length !== 2) throw new Error(`${file} must contain this text once: ${from}`)
  try {
    const outfile = join(folder, 'worlds.mjs')
    await build({
      entryPoints: [pathTo('test/simulation/mutation-run.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      tsconfig: pathTo('tsconfig.base.json'),
      // Text of dependencies that are CommonJS.
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
      plugins: [
        {
          name: 'mutation',
          setup({ onLoad }) {
            onLoad({ filter: /\.ts$/ }, ({ path: loaded }) =>
              loaded === path ? { contents: source.replace(from, () => to), loader: 'ts' } : undefined,
            )
          },
        },
      ],
    })
    const { stdout } = await run(process.execPath, [outfile, world, SEEDS])
    return stdout.trim()
  } finally {
    rmSync(folder, { recursive: true })
  }
}
