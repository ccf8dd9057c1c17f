import { CampaignClient } from 'campaign-client'
import { fileLedger, rewardWallets } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { sqliteStore } from 'campaign-client/webhook/sqlite'
import { expect, test } from 'vitest'
import { newPath } from '../bulk/fixtures.ts'

/** Clears a terminal. */
const TEXT = 'red\u001b[2J\u202e'
const SHOWN = 'red\\u001b[2J\\u202e'

const service = () => createCampaignService()
const client = () =>
  new CampaignClient({ baseUrl: 'https://service.example/api/v1', accessToken: 'a-token', fetch: service().fetch })
const user = { account: TEXT, platform: 'discord', pid: 'demo' }

test.each<[string, call: () => unknown]>([
  ['the name of a header', () => client().getCampaignInfo({ pid: 'demo' }, { headers: { [TEXT]: 'a' } })],
  ['the name of a query parameter', () => client().getCampaignInfo({ pid: 'demo' }, { query: { [TEXT]: '\ud800' } })],
  ['the name of an unknown option', () => fileLedger('a.ledger', { [TEXT]: 1 } as never)],
  [
    'the error of a list',
    () => {
      const rows = {
        [Symbol.iterator]: () => {
          throw new Error(TEXT)
        },
      }
      return rewardWallets(client(), rows as never, { ledger: fileLedger(newPath()) })
    },
  ],
  ['the path of a store', () => sqliteStore(`/missing/${TEXT}/deliveries.db`).claim('key', 1_000)],
  ['a fault', () => service().fail({ kind: 'reset', [TEXT]: 1 } as never)],
  ['the user of an event', () => service().emit({ kind: 'action_completed', aid: 'follow', ...user })],
  ['the user of a task', () => service().completeTask({ aid: 'follow', ...user })],
  ['the webhook of a test', () => service().testWebhook({ ...user, hook_id: TEXT })],
  ['the ID of a delivery', () => service().redeliver(TEXT)],
])('an error escapes control characters in %s', async (_, call) => {
  const error: unknown = await (async () => call())().then(
    () => expect.unreachable('it did not fail'),
    (reason: unknown) => reason,
  )
  const { message, issues = [] } = error as { message: string; issues?: { message: string }[] }
  expect(message).toContain(SHOWN)
  for (const text of [message, ...issues.map((issue) => issue.message)]) expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})
