import type { AwardReport, AwardRow } from 'campaign-client/bulk'
import type { CampaignService, FaultOptions } from 'campaign-client/testing'
import { expect } from 'vitest'
import type { Random } from './random.ts'

/** What the ledger says of one award. */
export interface Told {
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

/** Lets one request in some `every` fail, in random ways that say nothing about the award. Returns what ends it. */
export function sprinkleFaults(service: CampaignService, random: Random, every: number): () => void {
  let stopped = false
  const order = (): void => {
    // A fault that takes every request in between for itself, and leaves it as it is, and then the one that fails.
    const gap = random.below(2 * every)
    if (gap > 0) service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 0, times: gap })
    const fault = FAULTS[random.below(FAULTS.length)]
    service.fail({ on: 'rewardWallet', ...fault } as FaultOptions)
  }
  const refill = setInterval(() => {
    while (!stopped && service.pendingFaults().length < 40) order()
  }, 2)
  for (let count = 0; count < 20; count++) order()
  return () => {
    stopped = true
    clearInterval(refill)
    for (const fault of service.pendingFaults()) fault.cancel()
  }
}

/** Holds report, ledger and the service's own state against each other, to the row. */
export function expectAgreement(
  rows: readonly AwardRow[],
  report: AwardReport,
  told: readonly Told[],
  service: CampaignService,
): void {
  const given = new Map<string, number>()
  for (const { id, xp } of service.state.awards) {
    expect(given.has(id), `the award ${id} was made twice`).toBe(false)
    given.set(id, xp)
  }
  const byId = new Map(told.map((entry) => [entry.id, entry]))
  expect(byId.size).toBe(told.length)
  expect(told.length).toBe(rows.length)
  const found: Record<string, number> = {}
  for (const { id, xp } of rows) {
    const entry = byId.get(id)
    expect(entry, `the ledger lacks ${id}`).toBeDefined()
    const verdict = entry?.verdict ?? ''
    expect(entry?.xp).toBe(xp)
    found[verdict] = (found[verdict] ?? 0) + 1
    if (verdict === 'rejected') expect(given.has(id), `${id} is told as rejected, and is there`).toBe(false)
    else expect(given.get(id), `${id} is told as ${verdict}, and is not there`).toBe(xp)
  }
  const counted = Object.fromEntries(Object.entries(report.counts).filter(([, count]) => count > 0))
  expect(counted).toEqual(found)
  expect(report.complete).toBe(true)
}
