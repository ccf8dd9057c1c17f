import { type AwardLedger, type AwardRow, AwardRunStoppedError, rewardWallets } from 'campaign-client/bulk'
import type { FaultOptions } from 'campaign-client/testing'
import { FULL_SIZE } from '../support/full-size.ts'
import { expectSameCounts, type RecordedAward } from './expect-agreement.ts'
import { award, setup } from './fixtures.ts'
import { type Random, randomFor } from './random.ts'

const SCENARIOS = FULL_SIZE ? 100 : 12
const ROWS = 24

/** Faults of every kind, including faults that end a run or halt a campaign. */
const FAULTS: readonly Omit<FaultOptions, 'on'>[] = [
  { kind: 'reset' },
  { kind: 'applied_then_reset' },
  { kind: 'garbage' },
  { kind: 'garbage', applied: true } as never,
  { kind: 'status', status: 400 } as never,
  { kind: 'status', status: 409 } as never,
  { kind: 'status', status: 429, headers: { 'retry-after': '0' } } as never,
  { kind: 'status', status: 500, applied: true } as never,
  { kind: 'status', status: 403 } as never,
  { kind: 'status', status: 401 } as never,
]

/** Makes one run with random faults and options. Some runs are aborted. @returns the report of the run */
async function runOnce(random: Random, { service, client }: ReturnType<typeof setup>, ledger: AwardLedger) {
  const { below } = random
  const failuresPerHundredCalls = [0, 30, 90][below(3)] as number
  const controller = new AbortController()
  let callsLeft = below(3) === 0 ? below(ROWS) : Infinity
  const abortAfterCalls = () => {
    if (callsLeft-- === 0) controller.abort(new Error('the operator stopped the run'))
  }
  const clientWithFaults = {
    async rewardWallet(row: AwardRow) {
      abortAfterCalls()
      if (below(100) < failuresPerHundredCalls) {
        service.fail({ on: 'rewardWallet', ...FAULTS[below(FAULTS.length)] } as FaultOptions)
      }
      await client.rewardWallet(row)
    },
  }
  const madeIds = () => new Set(service.state.awards.map(({ id }) => id))
  const confirm = ({ id }: AwardRow) => {
    abortAfterCalls()
    return below(4) === 0 ? undefined : madeIds().has(id)
  }
  const run = rewardWallets(
    clientWithFaults,
    Array.from({ length: ROWS }, (_, number) => award(number, { pid: number % 3 === 0 ? 'other' : 'demo' })),
    {
      ledger,
      concurrency: 1 + below(4),
      signal: controller.signal,
      retryRejected: below(2) === 0,
      ...(below(2) === 0 && { confirm }),
    },
  )
  const report = await run.catch((error: unknown) => {
    if (error instanceof AwardRunStoppedError) return error.report
    throw error
  })
  for (const fault of service.pendingFaults()) fault.cancel()
  return report
}

/** Makes random runs, and compares the counts of each report with the ledger. */
export async function runScenarios(
  label: string,
  newLedger: () => { open: () => AwardLedger; read: () => Promise<RecordedAward[]> },
) {
  const random = randomFor(label)
  for (let scenario = 0; scenario < SCENARIOS; scenario++) {
    const { open, read } = newLedger()
    const serviceAndClient = setup()
    for (let run = 0; run < 6; run++) {
      const report = await runOnce(random, serviceAndClient, open())
      expectSameCounts(report, await read(), `scenario ${scenario}, run ${run}`)
    }
  }
}
