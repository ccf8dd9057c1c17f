/**
 * A run of awards in a process of its own, for tests that kill it. Takes a {@link ChildTask} as JSON in its argument, and
 * writes one line of JSON for each step it gets to.
 */
import { CampaignClient } from 'campaign-client'
import { type AwardReport, AwardRunStoppedError, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { postgresLedger } from 'campaign-client/bulk/postgres'
import { Pool } from 'pg'

export interface ChildTask {
  readonly baseUrl: string
  readonly ledger: { readonly path: string } | { readonly database: string; readonly run: string }
  readonly rows: readonly [from: number, count: number]
  readonly concurrency: number
  /** How long an answer may take, in milliseconds. */
  readonly timeoutMs: number
  /** Goes on when it gets a line on its standard input, once this many awards have ended. */
  readonly haltAfter?: number
}

export type ChildStep =
  /** No call is under way any more, and so many have ended. Lines of the ledger may still be on their way to the disk. */
  | { readonly step: 'halted'; readonly calls: number }
  /** Calls that have ended in this process. */
  | { readonly step: 'ended'; readonly calls: number }
  | { readonly step: 'report'; readonly report: AwardReport }
  | { readonly step: 'error'; readonly name: string; readonly message: string; readonly report?: AwardReport }

const task = JSON.parse(process.argv[2] ?? '') as ChildTask
const tell = (step: ChildStep) => process.stdout.write(`${JSON.stringify(step)}\n`)

const pool =
  'database' in task.ledger ? new Pool({ connectionString: task.ledger.database, max: 3, min: 0 }) : undefined
pool?.on('error', () => undefined)
const ledger =
  'path' in task.ledger
    ? fileLedger(task.ledger.path)
    : postgresLedger(pool as Pool, { run: task.ledger.run, leaseMs: 700 })

const client = new CampaignClient({
  baseUrl: task.baseUrl,
  accessToken: 'a-token',
  maxRetries: 1,
  timeoutMs: task.timeoutMs,
})
function* rows() {
  const [from, count] = task.rows
  for (let number = from; number < from + count; number++) {
    const address = `0x${(number + 1).toString(16).padStart(40, '0')}`
    yield { address, pid: 'demo', id: `award-${number}`, xp: number + 1 }
  }
}

let ended = 0
let standing = 0
let release: () => void = () => undefined
const released = new Promise<void>((resolve) => {
  release = resolve
})
process.stdin.once('data', () => release())
const halting = {
  async rewardWallet(...[row, options]: Parameters<CampaignClient['rewardWallet']>) {
    if (ended >= (task.haltAfter ?? Infinity)) {
      if (++standing === task.concurrency) tell({ step: 'halted', calls: ended })
      await released
    }
    await client.rewardWallet(row, options).finally(() => ended++)
    tell({ step: 'ended', calls: ended })
  },
}

try {
  tell({ step: 'report', report: await rewardWallets(halting, rows(), { ledger, concurrency: task.concurrency }) })
} catch (error) {
  const { name, message } = error as Error
  const report = error instanceof AwardRunStoppedError ? { report: error.report } : {}
  tell({ step: 'error', name, message, ...report })
}
process.stdin.unref()
await pool?.end()
