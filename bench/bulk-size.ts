import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OURS, type Subject } from './harness.ts'

const ROWS = 1_000_000
const MEGABYTE = 2 ** 20

/** What a million rows take of memory, and of time when the run is resumed. */
export default async function (): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'campaign-bench-'))
  const path = join(folder, 'awards.ledger')
  const first = await runOf(path, ROWS)
  // One row more each time: it is sent when all of the ledger is read and all rows before it are passed over.
  const resumed: Run[] = []
  for (let more = 1; more <= 3; more++) resumed.push(await runOf(path, ROWS + more))
  await rm(folder, { recursive: true })
  const megabytes = [first, ...resumed].map(({ peak }) => peak / MEGABYTE)
  return {
    title: 'A million awards',
    about:
      'A run over 1 000 000 rows from a generator, and runs that resume it with one row more, each in a process of its own, ' +
      'with a client that answers at once: the most resident memory, and the time from the call of `rewardWallets` to the ' +
      'first request. These are no ratios, and travel as badly.',
    measure: 'amount',
    groups: [
      {
        title: 'Resident memory, MB',
        unitUs: [],
        aims: { [OURS]: 150 },
        results: [{ name: OURS, samples: megabytes }],
      },
      {
        title: 'Seconds to the first request, resumed',
        unitUs: [],
        aims: { [OURS]: 5 },
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
  const child = fork(fileURLToPath(new URL('./bulk-size-of-one.mjs', import.meta.url)), [path, `${rows}`], {
    execArgv: [],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the run over ${rows} rows ended with ${code} and no result`)
  })
  const [run] = await Promise.race([once(child, 'message'), ended])
  return run as Run
}
