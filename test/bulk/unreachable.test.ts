import { CampaignClient, type NetworkError } from 'campaign-client'
import { type AwardRow, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { nodeTransport } from 'campaign-client/node'
import { expect, test } from 'vitest'
import { freePort } from '../support/server-process.ts'
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
  let failuresLeft = 12
  const flaky = { rewardWallet: (row: AwardRow) => (failuresLeft-- > 0 ? lost : client).rewardWallet(row) }
  const report = await rewardWallets(flaky, awards(30), { ledger: fileLedger(newPath()), concurrency: 8 })
  expect(report.counts).toEqual(counts({ awarded: 30 }))
  expect(service.state.awards).toHaveLength(30)
})
