import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OURS, type Subject } from './harness.ts'

const ROWS = 1_000_000
const MEGABYTE = 2 ** 20
const RUNS = 3
const NEW_ROW = 'one new row'
const ALL_ROWS = 'all rows and one new row'

/** Measures runs that continue a ledger of a million awards: their memory, and the time to their first award. */
export default async function (): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'campaign-bench-'))
  const path = join(folder, 'awards.ledger')
  const empty = Number(execFileSync(process.execPath, ['-p', 'process.memoryUsage.rss()'], { encoding: 'utf8' }))
  await runOf(path, 0, ROWS)
  const resumed: Run[] = []
  const continued: Run[] = []
  for (let run = 0; run < RUNS; run++) {
    const next = ROWS + 2 * run
    continued.push(await runOf(path, next, next + 1))
    // Skips all earlier rows.
    resumed.push(await runOf(path, 0, next + 2))
  }
  await rm(folder, { recursive: true })
  const seconds = (runs: readonly Run[]): number[] => runs.map(({ firstMs }) => firstMs / 1_000)
  const megabytes = (runs: readonly Run[]): number[] => runs.map(({ peak }) => (peak - empty) / MEGABYTE)
  const results = (read: (runs: readonly Run[]) => number[]) => [
    { name: NEW_ROW, samples: read(continued) },
    { name: ALL_ROWS, samples: read(resumed) },
  ]
  return {
    title: 'A million awards',
    about:
      `${OURS} continues a ledger of 1 000 000 awards, with a list of only one new row, or of all rows and one new row. ` +
      'A stub replaces the client: its `rewardWallet` resolves immediately. The table shows the maximum resident memory beyond ' +
      'that of an empty process, and the time from calling `rewardWallets` to the first award, as absolute values of this ' +
      'machine.',
    measure: 'amount',
    groups: [
      {
        title: 'Resident memory, MB',
        unitUs: [],
        limits: { [NEW_ROW]: 150, [ALL_ROWS]: 200 },
        results: results(megabytes),
      },
      {
        title: 'Seconds to the first award',
        unitUs: [],
        limits: { [NEW_ROW]: 2, [ALL_ROWS]: 12 },
        results: results(seconds),
      },
    ],
  }
}

interface Run {
  readonly peak: number
  readonly firstMs: number
}

async function runOf(path: string, from: number, to: number): Promise<Run> {
  const child = fork(fileURLToPath(new URL('./bulk-size-child.mjs', import.meta.url)), [path, `${from}`, `${to}`], {
    execArgv: [],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the run over the rows ${from} to ${to} exited with code ${code} and sent no result`)
  })
  const [run] = await Promise.race([once(child, 'message'), ended])
  return run as Run
}
