import { CampaignClient, NetworkError } from 'campaign-client'
import { type AwardProgress, type AwardRow, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import { describe, expect, onTestFinished, test } from 'vitest'
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
        if (progress.outage !== null && progress.outage.nextAttemptMs > 1_000) restarted ??= restart()
      }
      const path = newPath()
      const report = await rewardWallets(client, rows(), { ledger: fileLedger(path), concurrency: 4, onProgress })
      await restarted
      expect(reported.at(-1)).toMatchObject({ outage: null, waitingMs: 0 })
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
    const outages: NonNullable<AwardProgress['outage']>[] = []
    const onProgress = ({ outage }: AwardProgress): void => {
      if (outage !== null) outages.push(outage)
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
