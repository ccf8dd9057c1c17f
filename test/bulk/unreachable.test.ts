import { type CampaignClientOptions, NetworkError } from 'campaign-client'
import { type AwardProgress, type AwardRow, fileLedger, rewardWallets } from 'campaign-client/bulk'
import type { CampaignService } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'
import { skipPauses } from '../support/skip-pauses.ts'
import { awards, counts, newPath, setup, stopErrorOf } from './fixtures.ts'

describe('after the first response of a run', () => {
  /** Returns a client whose calls get no response after the first call, and the times of its calls. */
  function losingClient() {
    const elapsedMs = skipPauses()
    const { client } = setup()
    const calls: number[] = []
    return {
      calls,
      async rewardWallet(row: AwardRow) {
        calls.push(elapsedMs())
        if (calls.length === 1) await client.rewardWallet(row)
        else throw new NetworkError('lost', { operation: 'rewardWallet', outcome: 'not_applied' })
      },
    }
  }

  test.each([
    [undefined, 120_000],
    [0, 1_750],
    [60_000, 60_000],
    [600_000, 600_000],
  ])('with patienceMs %j the run stops after %i ms without a response', async (patienceMs, expectedMs) => {
    const lost = losingClient()
    const { calls } = lost
    const { message, report } = await stopErrorOf(
      rewardWallets(lost, awards(30), { ledger: fileLedger(newPath()), concurrency: 1, patienceMs }),
    )
    expect(message).toContain("the service can't be reached")
    expect(report.counts).toEqual(counts({ awarded: 1 }))
    expect(calls.at(-1)).toBeCloseTo(expectedMs, -1)
    const pauses = calls.map((time, index) => time - (calls[index - 1] ?? 0))
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15_001)
  })

  test('onProgress counts an outage down, at least every second', async () => {
    const outages: NonNullable<AwardProgress['waiting']>[] = []
    const onProgress = ({ waiting }: AwardProgress): void => {
      if (waiting?.for === 'outage') outages.push(waiting)
    }
    const options = { ledger: fileLedger(newPath()), concurrency: 1, patienceMs: 60_000, onProgress }
    await stopErrorOf(rewardWallets(losingClient(), awards(30), options))
    expect(outages.length).toBeGreaterThanOrEqual(60)
    let latestMs = 0
    for (const { sinceMs, nextAttemptMs, givesUpMs } of outages) {
      expect(sinceMs - latestMs).toBeLessThanOrEqual(1_001)
      latestMs = sinceMs
      expect(nextAttemptMs).toBeLessThanOrEqual(15_000)
      expect(sinceMs + givesUpMs).toBeCloseTo(60_000, -1)
    }
    expect(latestMs).toBeGreaterThan(58_000)
  })
})

describe('at its end, a run sends awards with an unknown outcome again', () => {
  /** Makes a run of ten awards. The fault meets the fifth request, and as many after it as `times` says. */
  async function runWith(fault: FaultOptions, options: Partial<CampaignClientOptions> = {}) {
    const { client, service, sent } = setup({ maxRetries: 1, ...options })
    const { times = 1, ...kind } = fault
    service.fail({ on: 'rewardWallet', kind: 'delay', delayMs: 0, times: 4 })
    service.fail({ on: 'rewardWallet', ...kind, times } as Parameters<CampaignService['fail']>[0])
    const path = newPath()
    const report = await rewardWallets(client, awards(10), { ledger: fileLedger(path), concurrency: 1 })
    return { report, sent, service, path }
  }
  type FaultOptions = { kind: string; status?: number; applied?: boolean; times?: number }

  test('twice at most', async () => {
    const { report, sent } = await runWith({ kind: 'status', status: 500, times: Infinity })
    expect(report).toMatchObject({ counts: counts({ awarded: 4, indeterminate: 6 }), complete: false })
    expect(report.problems).toHaveLength(6)
    // Six awards, three times, with one retry of the client each.
    expect(sent()).toBe(4 + 6 * 3 * 2)
  })

  test('not if the client has maxRetries: 0', async () => {
    const { report } = await runWith({ kind: 'status', status: 500 }, { maxRetries: 0 })
    expect(report.counts).toEqual(counts({ awarded: 9, indeterminate: 1 }))
  })

  test('not once the service does not respond, and the run is not stopped', async () => {
    let calls = 0
    const lost = {
      async rewardWallet() {
        if (++calls > 4) throw new NetworkError('lost', { operation: 'rewardWallet', outcome: 'unknown' })
      },
    }
    const options = { ledger: fileLedger(newPath()), concurrency: 1 }
    const report = await rewardWallets(lost, awards(6), options)
    expect(report).toMatchObject({ counts: counts({ awarded: 4, indeterminate: 2 }), complete: false })
    // The pauses of the run begin after the third call without a response: there is one.
    expect(calls).toBe(7)
  })

  test('only those of campaigns that are not halted', async () => {
    const { client, service } = setup({ maxRetries: 1 })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 500, applied: true, times: 2 })
    service.fail({ on: 'rewardWallet', kind: 'status', status: 403 })
    const options = { ledger: fileLedger(newPath()), concurrency: 1 }
    const report = await rewardWallets(client, awards(3), options)
    expect(report).toMatchObject({ counts: counts({ indeterminate: 1 }), complete: false })
  })
})
