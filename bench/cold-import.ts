import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OURS, ratios, type Subject } from './harness.ts'

// The working directory is bench/: Node resolves the packages of bench/package.json.
const built = (entry: string): string => pathToFileURL(resolve(`../dist/${entry}.js`)).href

const ROUNDS = 31
const PROGRAMS: readonly { readonly name: string; readonly imports: readonly string[] }[] = [
  { name: 'empty node', imports: [] },
  { name: OURS, imports: [built('index')] },
  { name: `${OURS}/webhook`, imports: [built('webhook')] },
  { name: 'ky + zod/mini + jose', imports: ['ky', 'zod/mini', 'jose/jwt/decode'] },
  { name: 'zod', imports: ['zod'] },
  { name: 'stripe', imports: ['stripe'] },
  { name: 'openai', imports: ['openai'] },
]

/** Measures Node processes that only import a package. */
export default function (): Subject {
  const samples = PROGRAMS.map((): number[] => [])
  for (let round = -2; round < ROUNDS; round++) {
    for (const [position] of PROGRAMS.entries()) {
      const index = (position + round + 2) % PROGRAMS.length
      const duration = wallTime(PROGRAMS[index]?.imports ?? [])
      if (round >= 0) samples[index]?.push(duration)
    }
  }
  const empty = samples[0] ?? []
  return {
    title: 'Cold import',
    about:
      'Time of a whole Node process that only imports an ES module, as a ratio to a process that imports nothing. ' +
      'campaign-client imports zod.',
    measure: 'ratio',
    groups: [
      {
        title: 'One process',
        unitUs: empty,
        limits: { [OURS]: 3.5 },
        results: PROGRAMS.map(({ name }, index) => ({
          name,
          samples: ratios(samples[index] ?? [], empty),
        })),
      },
    ],
  }
}

/** Returns the duration of the process in microseconds. */
function wallTime(imports: readonly string[]): number {
  const program = imports.map((name) => `import ${JSON.stringify(name)};`).join('')
  const begin = process.hrtime.bigint()
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  const duration = Number(process.hrtime.bigint() - begin) / 1000
  if (status !== 0) throw new Error(`${imports.join(', ')} cannot be imported: ${stderr}`)
  return duration
}
