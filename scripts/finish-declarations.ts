/**
 * What tsup leaves to do on declarations. Runs after it.
 *
 * It writes them once, for CommonJS, and those for ESM refer to them: an ES module may take from CommonJS, the other way round is
 * an error before TypeScript 5.8. Besides, a class imported in one format is then the same type as in the other.
 *
 * Comments link to pages of `docs` from the file of `src` that they stand in. The build brings them into declarations at other
 * depths, so that each link is led to its page again.
 *
 * And they are indented by two, as our sources are.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { entryPoints, outputOf } from './entry-points.ts'
import { pathTo } from './repository.ts'

const LINK = /\]\((?:\.\.\/)+docs\//g
const INDENTATION = /^(?: {4})+/gm

const dist = pathTo('dist')
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!file.endsWith('.d.cts')) continue
  const text = readFileSync(join(dist, file), 'utf8')
  const up = '../'.repeat(file.split(/[\\/]/).length)
  const finished = text.replace(LINK, `](${up}docs/`).replace(INDENTATION, (spaces) => ' '.repeat(spaces.length / 2))
  writeFileSync(join(dist, file), finished)
}
for (const entry of entryPoints) {
  const output = outputOf(entry)
  writeFileSync(join(dist, `${output}.d.ts`), `export * from './${basename(output)}.cjs'\n`)
}
