import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OURS, ratios, type Subject } from './harness.ts'

// The working directory is bench/: Node resolves the packages of bench/package.json.
const built = (entry: string): string => pathToFileURL(resolve(`../dist/${entry}.js`)).href

const ROUNDS = 31
const AWARD_HELP = `${OURS} award --help`
const importing = (...names: readonly string[]): readonly string[] => [
  '--input-type=module',
  '--eval',
  names.map((name) => `import ${JSON.stringify(name)};`).join(''),
]
/** The arguments of Node. */
const PROGRAMS: readonly { readonly name: string; readonly args: readonly string[] }[] = [
  { name: 'empty node', args: importing() },
  { name: OURS, args: importing(built('index')) },
  { name: `${OURS}/node`, args: importing(built('node')) },
  { name: `${OURS}/webhook`, args: importing(built('webhook')) },
  { name: AWARD_HELP, args: [resolve('../dist/cli/main.js'), 'award', '--help'] },
  { name: 'ky + zod/mini + jose', args: importing('ky', 'zod/mini', 'jose/jwt/decode') },
  { name: 'zod', args: importing('zod') },
  { name: 'stripe', args: importing('stripe') },
  { name: 'openai', args: importing('openai') },
]
/** Prints the CPU time of a process at its end, in microseconds. */
const PRINT_CPU_TIME = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { user, system } = process.cpuUsage(); process._rawDebug('CPU ' + (user + system)) })",
)}`

/** Measures Node processes that only import a package, or print a help. */
export default function (): Subject {
  const samples = PROGRAMS.map((): number[] => [])
  for (let round = -2; round < ROUNDS; round++) {
    for (const [position] of PROGRAMS.entries()) {
      const index = (position + round + 2) % PROGRAMS.length
      const duration = cpuTime(PROGRAMS[index]?.args ?? [])
      if (round >= 0) samples[index]?.push(duration)
    }
  }
  const empty = samples[0] ?? []
  return {
    title: 'Cold import',
    about:
      'CPU time of a whole Node process that only imports an ES module, as a ratio to a process that imports nothing. ' +
      'campaign-client imports zod.',
    measure: 'ratio',
    groups: [
      {
        title: 'One process',
        unitUs: empty,
        limits: { [OURS]: 2.2, [AWARD_HELP]: 3 },
        results: PROGRAMS.map(({ name }, index) => ({
          name,
          samples: ratios(samples[index] ?? [], empty),
        })),
      },
    ],
  }
}

/** Returns the CPU time of the process in microseconds. */
function cpuTime(args: readonly string[]): number {
  const { status, stderr } = spawnSync(process.execPath, ['--import', PRINT_CPU_TIME, ...args], { encoding: 'utf8' })
  const cpu = /CPU (\d+)/.exec(stderr)?.[1]
  if (status !== 0 || cpu === undefined) throw new Error(`${args.join(' ')} failed: ${stderr}`)
  return Number(cpu)
}
