/**
 * A webhook receiver whose handler has a bug for ten minutes. The store keeps
 * the messages. After the fix, a replay handles each of them once:
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   npx tsx webhook-replay.ts
 *
 * The local service sends the messages by a manual clock, so that the program
 * needs no ten minutes. The clock of the store is the real one.
 */
import {
  createCampaignService,
  createManualClock,
} from 'campaign-client/testing'
import {
  createWebhookReceiver,
  type WebhookReceiver,
} from 'campaign-client/webhook'
import { sqliteStore } from 'campaign-client/webhook/sqlite'

const MINUTE = 60_000
const secret = 'a-webhook-secret'
const store = sqliteStore(process.env.DATABASE_FILE ?? ':memory:')
const handled = new Map<string, number>()

/** Returns a receiver: in production, of one version of your program. */
function receiverWith(book: (id: string) => void): WebhookReceiver {
  return createWebhookReceiver({
    endpoint: 'campaign',
    secret,
    store,
    keepFailed: true,
    handle(event) {
      book(event.id)
    },
    onError: () => undefined,
    onReject: () => undefined,
  })
}

let receiver = receiverWith(() => {
  throw new TypeError('no such column: xp')
})
const clock = createManualClock()
const service = createCampaignService({
  clock,
  deliver: (request) => receiver.fetch(request),
})
service.registerWebhook({
  scope: 'user_activity',
  url: 'https://partner.example/hook',
  secret,
})

/** Sends a message every minute. */
async function sendMessages(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    service.emit({
      kind: 'action_completed',
      account: 'ada',
      platform: 'discord',
      pid: 'demo',
      aid: 'follow',
    })
    await clock.advance(MINUTE)
  }
}

function show(title: string): void {
  const count = (state: string) =>
    service.deliveries.filter((delivery) => delivery.state === state).length
  console.log(
    `${title}: ${count('undelivered')} undelivered, ` +
      `${count('pending')} pending, ${handled.size} handled`,
  )
}

await sendMessages(10)
show('ten minutes with the bug')

await receiver.close()
receiver = receiverWith((id) => handled.set(id, (handled.get(id) ?? 0) + 1))
await sendMessages(7)
show('seven minutes after the fix')

/** Handles all kept messages. Returns the number of each outcome. */
async function replayAll(): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {}
  // Without `olderThanMs`, the list has the messages that the service has
  // given up: those whose last attempt was 400 s ago, by the real clock.
  for await (const { key } of receiver.failed({ olderThanMs: 0 })) {
    const outcome = await receiver.replay(key)
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
  return outcomes
}

console.log('first replay:', await replayAll())
console.log('second replay:', await replayAll())
const isOnce = [...handled.values()].every((times) => times === 1)
console.log(
  `${service.deliveries.length} messages, ${handled.size} handled, ` +
    `each once: ${isOnce}`,
)
await receiver.close()
store.close()
