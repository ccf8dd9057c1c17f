import { CampaignClient, type CampaignClientOptions, NetworkError } from 'campaign-client'
import { type AwardProgress, type AwardRow, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import type { CampaignService } from 'campaign-client/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../support/server-process.ts'
import { skipPauses } from '../support/skip-pauses.ts'
import { awards, counts, entriesOf, newPath, setup, stopErrorOf } from './fixtures.ts'

/** Returns the URL of a port on which no server listens. */
const unusedUrl = async () => `http://127.0.0.1:${await freePort()}/api/v1`

test.each(['fetch', 'nodeTransport'])('an unreachable service stops the run, over %s', async (kind) => {
  const transport = kind === 'fetch' ? {} : { transport: nodeTransport() }
  const client = new CampaignClient({
    baseUrl: await unusedUrl(),
    accessToken: 'a-token',
    maxRetries: 0,
    ...transport,
  })
  let calls = 0
  const counting = { rewardWallet: (row: AwardRow) => client.rewardWallet(row).finally(() => calls++) }
  const path = newPath()
  const { cause, message, report } = await stopErrorOf(
    rewardWallets(counting, awards(30), { ledger: fileLedger(path), concurrency: 1 }),
  )
  expect(message).toContain("the service can't be reached")
  expect(cause).toMatchObject({ code: 'network' })
  // Three calls, then one probe after each of three pauses.
  expect(calls).toBe(3 + 3)
  // If the request may have been sent, the award is indeterminate.
  const indeterminateCount = (cause as NetworkError).outcome === 'unknown' ? calls : 0
  expect(report.counts).toEqual(counts({ indeterminate: indeterminateCount }))
  expect(await entriesOf(path)).toHaveLength(indeterminateCount)
})

test('the run waits for a service that is unreachable for a short time', async () => {
  const { client, service } = setup()
  const options = { baseUrl: await unusedUrl(), accessToken: 'a-token', maxRetries: 0 }
  const lost = new CampaignClient({ ...options, transport: nodeTransport() })
  // Eight calls in flight and two probes. Three failed calls would keep the others from beginning.
  let failuresLeft = 10
  const allBegun = Promise.withResolvers<void>()
  const flaky = {
    async rewardWallet(row: AwardRow) {
      if (failuresLeft-- <= 0) return client.rewardWallet(row)
      if (failuresLeft === 2) allBegun.resolve()
      await allBegun.promise
      return lost.rewardWallet(row)
    },
  }
  const report = await rewardWallets(flaky, awards(30), { ledger: fileLedger(newPath()), concurrency: 8 })
  expect(report.counts).toEqual(counts({ awarded: 30 }))
  expect(service.state.awards).toHaveLength(30)
})

describe('after the first response of a run', () => {
  test.each(['fetch', 'nodeTransport'])(
    'an outage of more than three pauses does not end the run, over %s',
    async (kind) => {
      const { service } = setup()
      let server = await service.listen()
      onTestFinished(() => server.close())
      const transport = kind === 'fetch' ? undefined : nodeTransport()
      const options = { baseUrl: server.url, accessToken: 'a-token', maxRetries: 0 }
      const client = new CampaignClient({ ...options, ...(transport && { transport }) })
      async function* rows(): AsyncGenerator<AwardRow> {
        yield* awards(5)
        await expect.poll(() => service.state.awards).toHaveLength(5)
        await server.close()
        yield* awards(25, 5)
      }
      const reported: AwardProgress[] = []
      let restarted: Promise<void> | undefined
      const restart = async (): Promise<void> => {
        server = await service.listen({ port: server.port })
      }
      const onProgress = (progress: AwardProgress): void => {
        reported.push(progress)
        // The fourth pause takes two seconds.
        if (progress.waiting !== null && progress.waiting.nextAttemptMs > 1_000) restarted ??= restart()
      }
      const path = newPath()
      const report = await rewardWallets(client, rows(), { ledger: fileLedger(path), concurrency: 4, onProgress })
      await restarted
      expect(reported.at(-1)).toMatchObject({ waiting: null })
      // Over fetch, a refused request may have been sent: three calls, then four probes.
      const { awarded, indeterminate } = report.counts
      expect(awarded + indeterminate).toBe(30)
      if (transport === undefined) await rewardWallets(client, awards(30), { ledger: fileLedger(path) })
      else expect(indeterminate).toBe(0)
      transport?.close()
      expect(new Set(service.state.awards.map(({ id }) => id)).size).toBe(30)
      expect(service.state.awards).toHaveLength(30)
    },
  )

  test.each([
    [undefined, 120_000],
    [0, 1_750],
    [60_000, 60_000],
    [600_000, 600_000],
  ])('with patienceMs %j the run stops after %i ms without a response', async (patienceMs, expectedMs) => {
    const elapsedMs = skipPauses()
    const { client } = setup()
    const calls: number[] = []
    const lost = {
      async rewardWallet(row: AwardRow) {
        calls.push(elapsedMs())
        if (calls.length === 1) await client.rewardWallet(row)
        else throw new NetworkError('lost', { operation: 'rewardWallet', outcome: 'not_applied' })
      },
    }
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
    skipPauses()
    const { client } = setup()
    let calls = 0
    const lost = {
      async rewardWallet(row: AwardRow) {
        if (++calls === 1) await client.rewardWallet(row)
        else throw new NetworkError('lost', { operation: 'rewardWallet', outcome: 'not_applied' })
      },
    }
    const outages: NonNullable<AwardProgress['waiting']>[] = []
    const onProgress = ({ waiting }: AwardProgress): void => {
      if (waiting?.for === 'outage') outages.push(waiting)
    }
    const options = { ledger: fileLedger(newPath()), concurrency: 1, patienceMs: 60_000, onProgress }
    await stopErrorOf(rewardWallets(lost, awards(30), options))
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

  test('an outage of a few requests leaves nothing behind', async () => {
    // Each call has one retry: two awards end with an unknown outcome.
    const { report, service, path } = await runWith({ kind: 'status', status: 500, applied: true, times: 4 })
    expect(report).toMatchObject({ counts: counts({ awarded: 8, alreadyAwarded: 2 }), problems: [], complete: true })
    expect(report.usedBefore).toEqual({ awards: 0, xp: 0 })
    expect(service.state.awards).toHaveLength(10)
    expect(new Set((await entriesOf(path)).map(({ verdict }) => verdict))).toEqual(
      new Set(['awarded', 'alreadyAwarded']),
    )
  })

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

test('a run leaves no timer behind when its last call starts a pause', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const lost = {
    rewardWallet: () => Promise.reject(new NetworkError('lost', { operation: 'rewardWallet', outcome: 'unknown' })),
  }
  const report = await rewardWallets(lost, awards(3), { ledger: fileLedger(newPath()), patienceMs: 0 })
  expect(report.counts).toEqual(counts({ indeterminate: 3 }))
  expect(vi.getTimerCount()).toBe(0)
})
