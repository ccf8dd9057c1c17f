import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OURS, type Subject } from './harness.ts'

const ROWS = 1_000_000
const MEGABYTE = 2 ** 20

/** Measures the memory of a run over a million rows, and the time that resuming the run takes. */
export default async function (): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'campaign-bench-'))
  const path = join(folder, 'awards.ledger')
  const first = await runOf(path, ROWS)
  // Each resumed run has one more row, which it sends after skipping all others.
  const resumed: Run[] = []
  for (let extra = 1; extra <= 3; extra++) resumed.push(await runOf(path, ROWS + extra))
  await rm(folder, { recursive: true })
  const megabytes = [first, ...resumed].map(({ peak }) => peak / MEGABYTE)
  return {
    title: 'A million awards',
    about:
      'A run over 1 000 000 rows, and runs that resume it with one more row. The client resolves immediately. Shows the maximum ' +
      'resident memory, and the time from calling `rewardWallets` to the first request. Absolute values of this machine.',
    measure: 'amount',
    groups: [
      {
        title: 'Resident memory, MB',
        unitUs: [],
        limits: { [OURS]: 500 },
        results: [{ name: OURS, samples: megabytes }],
      },
      {
        title: 'Seconds to the first request, resumed',
        unitUs: [],
        limits: { [OURS]: 10 },
        results: [{ name: OURS, samples: resumed.map(({ firstMs }) => firstMs / 1_000) }],
      },
    ],
  }
}

interface Run {
  readonly peak: number
  readonly firstMs: number
}

async function runOf(path: string, rows: number): Promise<Run> {
  const child = fork(fileURLToPath(new URL('./bulk-size-child.mjs', import.meta.url)), [path, `${rows}`], {
    execArgv: [],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the run over ${rows} rows exited with code ${code} and sent no result`)
  })
  const [run] = await Promise.race([once(child, 'message'), ended])
  return run as Run
}
