import { join } from 'node:path'
import { CampaignError } from 'campaign-client'
import { type AwardRow, fileLedger, rewardId, rewardWallets } from 'campaign-client/bulk'
import { equal, instance, matches, rejection } from './assertions.ts'
import type { Behaviour } from './behaviour.ts'
import { createLocalClient } from './local-client.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const ROWS: readonly AwardRow[] = Array.from({ length: 20 }, (_, index) => {
  const address = `0x${String(index + 1).padStart(40, '0')}`
  return { address, pid: 'demo', id: rewardId({ pid: 'demo', address, reason: 'launch party' }), xp: 10 }
})

/** Bulk awards with a ledger in a file. */
export const awards: readonly Behaviour[] = [
  {
    name: 'fileLedger: a list is awarded once, over a lost response and two runs',
    run: () =>
      inTemporaryFolder(async (folder) => {
        const { client, service } = createLocalClient()
        service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
        const path = join(folder, 'awards.ledger')
        const first = await rewardWallets(client, ROWS, { ledger: fileLedger(path) })
        matches(first, { complete: true, counts: { awarded: 19, alreadyAwarded: 1 } })
        const sent = service.requests.length
        const second = await rewardWallets(client, ROWS, { ledger: fileLedger(path) })
        matches(second, { complete: true, counts: { awarded: 19, alreadyAwarded: 1 } })
        equal(service.requests.length, sent, 'requests after the second run')
        equal(new Set(service.state.awards.map(({ id }) => id)).size, ROWS.length, 'awards')
        equal(service.state.awards.length, ROWS.length, 'awards')
      }),
  },
  {
    name: 'fileLedger: a second run on the same file is refused at once, and changes nothing for the first',
    run: () =>
      inTemporaryFolder(async (folder) => {
        const { client, service } = createLocalClient()
        const path = join(folder, 'awards.ledger')
        async function* rows() {
          yield* ROWS.slice(0, 10)
          instance(await rejection(rewardWallets(client, ROWS, { ledger: fileLedger(path) })), CampaignError)
          yield* ROWS.slice(10)
        }
        matches(await rewardWallets(client, rows(), { ledger: fileLedger(path) }), {
          complete: true,
          counts: { awarded: 20 },
        })
        equal(service.state.awards.length, ROWS.length, 'awards')
      }),
  },
]
