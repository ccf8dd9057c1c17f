/**
 * Measures the subjects, prints a table of each, draws docs/pictures/bench-*.svg and writes docs/benchmarks.md.
 * `npm run bench -- call decode` measures only these, and leaves the page alone; `npm run bench -- --page` measures
 * nothing, and writes the page from what was measured last of each subject here. The others stay on it as they are.
 */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { Subject } from './harness.ts'
import { type Measured, page, plainTable, sectionOf } from './page.ts'
import { draw } from './plot.ts'
import { compileBench, measureSubject } from './subjects.ts'

/**
 * In how many processes each pair of contestants is measured. What is compiled while it runs takes a tenth more or less
 * from one process to the next, all its rounds through. Those without a number start processes as they need them.
 */
const PROCESSES: Readonly<Record<string, number | undefined>> = {
  call: 2,
  'node-call': 3,
  throughput: 1,
  latency: 1,
  'in-flight': undefined,
  decode: 3,
  verify: 3,
  'cold-import': undefined,
  memory: undefined,
  bulk: undefined,
  'bulk-size': undefined,
  receiver: undefined,
}
const SUBJECTS = Object.keys(PROCESSES)
const docs = new URL('../docs/', import.meta.url)
/** What was measured, one file for each subject. */
const kept = new URL('node_modules/.cache/measured/', import.meta.url)

const pageOnly = process.argv.includes('--page')
const chosen = process.argv.slice(2).filter((argument) => argument !== '--page')
const unknown = chosen.filter((name) => !SUBJECTS.includes(name))
if (unknown.length > 0) throw new Error(`No such subject: ${unknown.join(', ')}; there are ${SUBJECTS.join(', ')}`)

if (!pageOnly) await measure(chosen.length > 0 ? chosen : SUBJECTS)
if (chosen.length === 0) {
  const benchmarks = new URL('benchmarks.md', docs)
  const published = await readFile(benchmarks, 'utf8')
  const sections: (Measured | string)[] = []
  for (const name of SUBJECTS) {
    const subject = await lastMeasured(name)
    sections.push(subject === undefined ? sectionOf(name, published) : { name, subject })
    if (subject !== undefined) await writeFile(new URL(`pictures/bench-${name}.svg`, docs), draw(subject))
  }
  await writeFile(benchmarks, page(sections, await peerVersions()))
}

async function measure(names: readonly string[]): Promise<void> {
  await compileBench()
  await mkdir(kept, { recursive: true })
  for (const name of names) {
    const begin = performance.now()
    const subject = await measureSubject(name, PROCESSES[name])
    console.log(`${plainTable(subject)}\n  took ${Math.round((performance.now() - begin) / 1000)} s\n`)
    await writeFile(new URL(`${name}.json`, kept), JSON.stringify(subject))
  }
}

async function lastMeasured(name: string): Promise<Subject | undefined> {
  const file = new URL(`${name}.json`, kept)
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : undefined
}

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
