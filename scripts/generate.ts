/**
 * Writes the generated files: `npm run generate`, or `npm run generate NAME …` to run only these generators.
 *
 * `--source` skips the files that need a build. `--check` writes nothing and fails if a file is stale.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Generator } from './generators/generator.ts'
import { generators } from './generators/index.ts'
import { packedReports } from './generators/packed-reports.ts'
import { pathTo, read } from './repository.ts'

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false }, source: { type: 'boolean', default: false } },
  allowPositionals: true,
})
let stale = 0

async function run({ name, generate }: Generator): Promise<void> {
  if (positionals.length > 0 && !positionals.includes(name)) return
  for (const [file, text] of await generate()) {
    if (existsSync(pathTo(file)) && read(file) === text) continue
    stale++
    if (!values.check) writeFileSync(pathTo(file), text)
    console.log(`${values.check ? 'stale' : 'wrote'} ${file}`)
  }
}

const all = [...generators, packedReports]
const names = all.map(({ name }) => name)
const unknown = positionals.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`unknown generator ${unknown.join(', ')}; use ${names.join(', ')}`)
  process.exit(2)
}
for (const generator of values.source ? generators : all) await run(generator)
if (stale === 0) console.log('everything is up to date')
process.exitCode = values.check && stale > 0 ? 1 : 0
