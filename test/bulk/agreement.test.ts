import {
  type AwardLedger,
  type AwardReport,
  type AwardRow,
  AwardRunStoppedError,
  fileLedger,
  readLedger,
  rewardWallets,
} from 'campaign-client/bulk'
import type { FaultOptions } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { postgres } from '../databases/postgres.ts'
import { FULL_SIZE } from '../support/full-size.ts'
import { skipsWithout } from '../support/skips-without.ts'
import type { Told } from './expect-agreement.ts'
import { award, newPath, scene } from './fixtures.ts'
import { postgresLedgers } from './postgres-ledgers.ts'
import { type Random, randomFor } from './random.ts'

const STORIES = FULL_SIZE ? 100 : 12
const ROWS = 24

/** Whatever an answer can say, and what ends a run or a campaign. */
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

/** One run with random faults over random options, which may be aborted. Whatever ends it, there is a report. */
async function runOnce(random: Random, { service, client }: ReturnType<typeof scene>, ledger: AwardLedger) {
  const { below } = random
  /** Of a hundred calls so many fail. */
  const failing = [0, 30, 90][below(3)] as number
  const controller = new AbortController()
  let callsLeft = below(3) === 0 ? below(ROWS) : Infinity
  const abortSometime = () => {
    if (callsLeft-- === 0) controller.abort(new Error('the operator has had enough'))
  }
  const watched = {
    async rewardWallet(row: AwardRow) {
      abortSometime()
      if (below(100) < failing) {
        service.fail({ on: 'rewardWallet', ...FAULTS[below(FAULTS.length)] } as FaultOptions)
      }
      await client.rewardWallet(row)
    },
  }
  const given = () => new Set(service.state.awards.map(({ id }) => id))
  const confirm = ({ id }: AwardRow) => {
    abortSometime()
    return below(4) === 0 ? undefined : given().has(id)
  }
  const run = rewardWallets(
    watched,
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

/** Holds a report against the ledger, for the rows that the run has read. */
function expectSame({ rows, counts }: AwardReport, told: readonly Told[], story: string): void {
  const found = { awarded: 0, alreadyAwarded: 0, unconfirmed: 0, rejected: 0, indeterminate: 0, duplicate: 0 }
  for (const { id, verdict } of told) {
    if (Number(id.slice('award-'.length)) < rows) found[verdict as keyof typeof found]++
  }
  expect(counts, story).toEqual(found)
}

async function tell(what: string, place: () => { open: () => AwardLedger; read: () => Promise<Told[]> }) {
  const random = randomFor(what)
  for (let story = 0; story < STORIES; story++) {
    const { open, read } = place()
    const stage = scene()
    for (let run = 0; run < 6; run++) {
      const report = await runOnce(random, stage, open())
      expectSame(report, await read(), `story ${story}, run ${run}`)
    }
  }
}

describe('the report of every run agrees with the ledger on every row it read', {
  timeout: 300_000,
}, () => {
  test('in a file', async () => {
    await tell('agreement, file', () => {
      const path = newPath()
      return { open: () => fileLedger(path), read: async () => readLedger(path) }
    })
  })

  describe.skipIf(skipsWithout('PostgreSQL', postgres.missing))('in PostgreSQL', () => {
    const newLedger = postgresLedgers()

    test('the same', async () => {
      await tell('agreement, PostgreSQL', newLedger)
    })
  })
})
