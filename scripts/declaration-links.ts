/**
 * Comments link to pages of `docs` from the file of `src` that they stand in. The build brings them into declarations at other
 * depths: this leads each link of `dist` to the page again. Runs after tsup.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathTo } from './repository.ts'

const LINK = /\]\((?:\.\.\/)+docs\//g

const dist = pathTo('dist')
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!/\.d\.c?ts$/.test(file)) continue
  const text = readFileSync(join(dist, file), 'utf8')
  const up = '../'.repeat(file.split(/[\\/]/).length)
  const linked = text.replace(LINK, `](${up}docs/`)
  if (linked !== text) writeFileSync(join(dist, file), linked)
}
