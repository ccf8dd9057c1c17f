/**
 * Measures all subjects, prints a table for each and writes docs/benchmarks.md. `npm run bench -- call verify` measures only
 * these two and does not write the page.
 */
import { readFile, writeFile } from 'node:fs/promises'
import type { Subject } from './harness.ts'
import { page, plainTable } from './page.ts'
import { compileBench, measureSubject } from './subjects.ts'

/**
 * The number of processes per pair of contestants: several, because times vary by 10 % between processes. Subjects without
 * a number start their own processes.
 */
const PROCESSES: Readonly<Record<string, number | undefined>> = {
  call: 2,
  verify: 2,
  'cold-import': undefined,
  memory: undefined,
  bulk: undefined,
  'bulk-size': undefined,
  receiver: undefined,
}
const SUBJECTS = Object.keys(PROCESSES)

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !SUBJECTS.includes(name))
if (unknown.length > 0) throw new Error(`unknown subject ${unknown.join(', ')}; use ${SUBJECTS.join(', ')}`)

await compileBench()
const measured: Subject[] = []
for (const name of chosen.length > 0 ? chosen : SUBJECTS) {
  const begin = performance.now()
  const subject = await measureSubject(name, PROCESSES[name])
  console.log(`${plainTable(subject)}\n  took ${Math.round((performance.now() - begin) / 1000)} s\n`)
  measured.push(subject)
}
if (chosen.length === 0) {
  await writeFile(new URL('../docs/benchmarks.md', import.meta.url), page(measured, await measuredVersions()))
}

/** The version of this package and of the packages beside it. */
async function measuredVersions(): Promise<Record<string, string>> {
  const { dependencies } = JSON.parse(await readFile(new URL('package.json', import.meta.url), 'utf8'))
  const { name, version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  const versions: Record<string, string> = { [name]: version }
  for (const name of ['ky', 'zod', 'jose', ...Object.keys(dependencies)]) {
    const folder = name in dependencies ? 'node_modules' : '../node_modules'
    const manifest = new URL(`${folder}/${name}/package.json`, import.meta.url)
    versions[name] = JSON.parse(await readFile(manifest, 'utf8')).version
  }
  return versions
}
