import { rmSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { pathTo } from '../repository.ts'
import type { SearchRecord } from './search/record.ts'

/** What TypeDoc writes for its own theme, when all else is written. */
const UNUSED = ['main.js', 'style.css', 'search.js', 'navigation.js', 'hierarchy.js', 'icons.js', 'icons.svg']

/** Styles, scripts and the index of the search, beside the pages. A page loads the search when it is opened. */
export async function writeAssets(folder: string, records: readonly SearchRecord[]): Promise<void> {
  const assets = join(folder, 'assets')
  await build({
    absWorkingDir: pathTo('scripts/site'),
    entryPoints: {
      site: 'browser/main.ts',
      'search-engine': 'browser/search-engine.ts',
      'site-style': 'styles/site.css',
    },
    outdir: assets,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    external: ['favicon.svg'],
    logLevel: 'warning',
  })
  await cp(pathTo('scripts/site/favicon.svg'), join(assets, 'favicon.svg'))
  // TypeDoc copies what an `img` names, and not what a `source` does.
  await cp(pathTo('docs/pictures/console-dark.webp'), join(folder, 'media/console-dark.webp'))
  // A script and not JSON: pages that are read from a disk may load scripts only.
  await writeFile(join(assets, 'search-records.js'), `searchRecords=${JSON.stringify(records)}`)
}

export function removeUnused(folder: string): void {
  for (const file of UNUSED) rmSync(join(folder, 'assets', file), { force: true })
  // A list of the modules, which stand in the menu by subject.
  rmSync(join(folder, 'modules.html'), { force: true })
}
