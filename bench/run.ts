/**
 * Measures the subjects, prints a table of each, draws docs/pictures/bench-*.svg and writes docs/benchmarks.md.
 * `npm run bench -- call decode` measures only these, and leaves the page alone.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { type Measured, page, plainTable } from './page.ts'
import { draw } from './plot.ts'
import { compileBench, measureSubject } from './subjects.ts'

/**
 * In how many processes each pair of contestants is measured. What is compiled while it runs takes a tenth more or less
 * from one process to the next, all its rounds through. Those without a number start processes as they need them.
 */
const PROCESSES: Readonly<Record<string, number | undefined>> = {
  call: 3,
  decode: 3,
  verify: 3,
  'cold-import': undefined,
  memory: undefined,
  bulk: undefined,
  'bulk-size': undefined,
}
const SUBJECTS = Object.keys(PROCESSES)
const docs = new URL('../docs/', import.meta.url)

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !SUBJECTS.includes(name))
if (unknown.length > 0) throw new Error(`No such subject: ${unknown.join(', ')}; there are ${SUBJECTS.join(', ')}`)

await compileBench()
const measured: Measured[] = []
for (const name of chosen.length > 0 ? chosen : SUBJECTS) {
  const begin = performance.now()
  const subject = await measureSubject(name, PROCESSES[name])
  console.log(`${plainTable(subject)}\n  took ${Math.round((performance.now() - begin) / 1000)} s\n`)
  measured.push({ name, subject })
}
for (const { name, subject } of measured) await writeFile(new URL(`pictures/bench-${name}.svg`, docs), draw(subject))
if (chosen.length === 0) await writeFile(new URL('benchmarks.md', docs), page(measured, await peerVersions()))

async function peerVersions(): Promise<Record<string, string>> {
  const { dependencies } = JSON.parse(await readFile(new URL('package.json', import.meta.url), 'utf8'))
  const versions: Record<string, string> = {}
  for (const name of ['ky', 'zod', 'jose', ...Object.keys(dependencies)]) {
    const folder = name in dependencies ? 'node_modules' : '../node_modules'
    const manifest = new URL(`${folder}/${name}/package.json`, import.meta.url)
    versions[name] = JSON.parse(await readFile(manifest, 'utf8')).version
  }
  return versions
}
