/**
 * Runs awards in a child process that tests can kill. Its argument is a {@link RunTask} as JSON. It prints a line of JSON for
 * each {@link RunStep}.
 */
import { CampaignClient } from 'campaign-client'
import { type AwardReport, AwardRunStoppedError, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'

export interface RunTask {
  readonly baseUrl: string
  readonly ledger: { readonly path: string }
  readonly rows: readonly [from: number, count: number]
  readonly concurrency: number
  /** The time limit of a call, in milliseconds. */
  readonly timeoutMs: number
  /** The default is `fetch`. */
  readonly transport?: 'fetch' | 'nodeTransport'
  /** After this number of calls, the process waits for a line on its standard input. */
  readonly haltAfter?: number
}

export type RunStep =
  /** `calls` calls have ended. All other calls wait for standard input. The ledger may still be writing. */
  | { readonly step: 'halted'; readonly calls: number }
  /** The number of calls that have ended. */
  | { readonly step: 'ended'; readonly calls: number }
  /** The run has reported this number of awards. */
  | { readonly step: 'progress'; readonly awarded: number }
  | { readonly step: 'report'; readonly report: AwardReport }
  | { readonly step: 'error'; readonly name: string; readonly message: string; readonly report?: AwardReport }

const task = JSON.parse(process.argv[2] ?? '') as RunTask
const print = (step: RunStep) => process.stdout.write(`${JSON.stringify(step)}\n`)

const transport = task.transport === 'nodeTransport' ? nodeTransport() : undefined
const client = new CampaignClient({
  baseUrl: task.baseUrl,
  accessToken: 'a-token',
  maxRetries: 1,
  ...(transport && { transport }),
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
let halted = 0
const released = new Promise((resolve) => process.stdin.once('data', resolve))
const halting = {
  async rewardWallet(...[row, options]: Parameters<CampaignClient['rewardWallet']>) {
    if (ended >= (task.haltAfter ?? Infinity)) {
      if (++halted === task.concurrency) print({ step: 'halted', calls: ended })
      await released
    }
    await client.rewardWallet(row, options).finally(() => ended++)
    print({ step: 'ended', calls: ended })
  },
}

try {
  const report = await rewardWallets(halting, rows(), {
    ledger: fileLedger(task.ledger.path),
    concurrency: task.concurrency,
    onProgress: ({ counts }) => print({ step: 'progress', awarded: counts.awarded }),
  })
  print({ step: 'report', report })
} catch (error) {
  const { name, message } = error as Error
  const report = error instanceof AwardRunStoppedError ? { report: error.report } : {}
  print({ step: 'error', name, message, ...report })
}
process.stdin.unref()
await transport?.close()
