import type { AwardReport, AwardRow } from 'campaign-client/bulk'
import type { CampaignService, FaultOptions } from 'campaign-client/testing'
import { expect } from 'vitest'
import type { Random } from './random.ts'

/** An award in a ledger. */
export interface RecordedAward {
  readonly id: string
  readonly xp: number
  readonly verdict: string
}

const FAULTS: readonly Omit<FaultOptions, 'on' | 'times'>[] = [
  { kind: 'reset' },
  { kind: 'applied_then_reset' },
  { kind: 'hang' },
  { kind: 'hang', applied: true } as never,
  { kind: 'truncate' },
  { kind: 'garbage' },
  { kind: 'garbage', applied: true } as never,
  { kind: 'misshapen' },
  { kind: 'status', status: 500 } as never,
  { kind: 'status', status: 500, applied: true } as never,
  { kind: 'status', status: 503 } as never,
  { kind: 'status', status: 429, headers: { 'retry-after': '0' } } as never,
]

/** Makes about one in `every` requests fail, at random. @returns a function that ends the faults */
export function addRandomFaults(service: CampaignService, random: Random, every: number): () => void {
  let stopped = false
  const addFault = (): void => {
    // A delay of 0 ms has no effect: `gap` requests succeed, then one fails.
    const gap = random.below(2 * every)
    if (gap > 0) service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 0, times: gap })
    const fault = FAULTS[random.below(FAULTS.length)]
    service.fail({ on: 'rewardWallet', ...fault } as FaultOptions)
  }
  const refill = setInterval(() => {
    while (!stopped && service.pendingFaults().length < 40) addFault()
  }, 2)
  for (let count = 0; count < 20; count++) addFault()
  return () => {
    stopped = true
    clearInterval(refill)
    for (const fault of service.pendingFaults()) fault.cancel()
  }
}

/** Compares the report, the ledger and the state of the service for each row. */
export function expectAgreement(
  rows: readonly AwardRow[],
  report: AwardReport,
  recorded: readonly RecordedAward[],
  service: CampaignService,
): void {
  const made = new Map<string, number>()
  for (const { id, xp } of service.state.awards) {
    expect(made.has(id), `the award ${id} was made twice`).toBe(false)
    made.set(id, xp)
  }
  const byId = new Map(recorded.map((entry) => [entry.id, entry]))
  expect(byId.size).toBe(recorded.length)
  expect(recorded.length).toBe(rows.length)
  const found: Record<string, number> = {}
  for (const { id, xp } of rows) {
    const entry = byId.get(id)
    expect(entry, `the ledger lacks ${id}`).toBeDefined()
    const verdict = entry?.verdict ?? ''
    expect(entry?.xp).toBe(xp)
    found[verdict] = (found[verdict] ?? 0) + 1
    if (verdict === 'rejected')
      expect(made.has(id), `${id} is rejected in the ledger but awarded in the service`).toBe(false)
    else expect(made.get(id), `${id} is ${verdict} in the ledger but not awarded in the service`).toBe(xp)
  }
  const counted = Object.fromEntries(Object.entries(report.counts).filter(([, count]) => count > 0))
  expect(counted).toEqual(found)
  expect(report.complete).toBe(true)
}

/** Compares the counts of a report with the ledger, for the rows that the run has read. */
export function expectSameCounts(
  { rows, counts }: Pick<AwardReport, 'rows' | 'counts'>,
  recorded: readonly RecordedAward[],
  label: string,
): void {
  const found = { awarded: 0, alreadyAwarded: 0, unconfirmed: 0, rejected: 0, indeterminate: 0, duplicate: 0 }
  for (const { id, verdict } of recorded) {
    if (Number(id.slice('award-'.length)) < rows) found[verdict as keyof typeof found]++
  }
  expect(counts, label).toEqual(found)
}
