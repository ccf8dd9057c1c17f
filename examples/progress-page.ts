/**
 * A progress page for many concurrent readers, with Hono and lru-cache. All
 * readers of one user's page share one call to the service.
 *
 *   npm pkg set type=module
 *   npm install tsx@4 hono@4 lru-cache@11
 *   npx tsx progress-page.ts
 *
 * The command shows the page with the local service. Import `progressPage` to
 * serve the page from your own application.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import {
  BadRequestError,
  CampaignClient,
  type UserProgress,
} from 'campaign-client'
import { createCampaignService } from 'campaign-client/testing'
import { createWebhookReceiver } from 'campaign-client/webhook'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { LRUCache } from 'lru-cache'

export interface ProgressPageOptions {
  client: Pick<CampaignClient, 'getUserProgress'>
  /** Secret of the webhook that removes a user from the cache. */
  secret: string
  pid: string
  platform: string
  /** Milliseconds after which progress is read again in the background. */
  freshMs?: number
  /** Milliseconds for which a user without an entry is remembered. */
  newUserMs?: number
}

/** The user has no entry in the campaign yet. */
const NO_ENTRY = 'no entry'

export function progressPage(options: ProgressPageOptions): Hono {
  const { client, secret, pid, platform } = options
  const { freshMs = 15_000, newUserMs = 5_000 } = options

  const cache = new LRUCache<string, UserProgress | typeof NO_ENTRY>({
    max: 10_000,
    ttl: freshMs,
    perf: Date, // a clock that fake timers can control in tests
    // Concurrent readers of the same user share one call.
    async fetchMethod(account, _, { options }) {
      try {
        return await client.getUserProgress({ account, platform, pid })
      } catch (error) {
        // Assumed: the service responds with 400 for a user who has not joined.
        if (!(error instanceof BadRequestError)) throw error
        options.ttl = newUserMs
        return NO_ENTRY
      }
    },
    // Returns old progress at once and reads it again in the background.
    allowStale: true,
    // Keeps old progress while the service is unavailable.
    noDeleteOnFetchRejection: true,
    allowStaleOnFetchRejection: true,
    // When a message arrives during a call, readers get the result of the
    // call, but the cache does not keep it.
    ignoreFetchAbort: true,
  })

  const receiver = createWebhookReceiver({
    endpoint: 'progress-page',
    secret,
    handle(event) {
      // Here the message's `user` is the account of the page. If yours
      // differ, look up the account.
      const { user } = event.payload
      if (typeof user === 'string') cache.delete(user)
    },
  })

  const app = new Hono()
  app.post('/webhooks/campaign', (c) => receiver.fetch(c.req.raw))
  app.get('/progress/:account', async (c) => {
    c.header('cache-control', 'no-store')
    const account = c.req.param('account')
    const progress = await cache.fetch(account).catch(() => undefined)
    // Do not show 0 XP: the number is unknown.
    if (progress === undefined) {
      c.header('retry-after', '5')
      return c.html(html`<p>Your points are not available now.</p>`, 503)
    }
    if (progress === NO_ENTRY)
      return c.html(html`<p>Complete your first task to get points.</p>`)
    const { name, total, rank } = progress
    return c.html(html`<p>${name} has ${total} XP and rank ${rank}.</p>`)
  })
  return app
}

async function demonstrate(): Promise<void> {
  const secret = 'the secret of the webhook'
  const pages: Hono[] = []
  const service = createCampaignService({
    deliver: async (request) =>
      (await pages[0]?.fetch(request)) ?? new Response(null, { status: 503 }),
    webhooks: [{ url: 'https://shop.example/webhooks/campaign', secret }],
  })
  const client = new CampaignClient({
    baseUrl: 'https://service.example/api/v1',
    accessToken: 'any',
    fetch: service.fetch,
    maxRetries: 0,
  })
  const page = progressPage({
    client,
    secret,
    pid: 'demo',
    platform: 'discord',
    freshMs: 1000,
  })
  pages.push(page)
  const show = async (title: string, account = 'ada') => {
    const read = async () => {
      const response = await page.request(`/progress/${account}`)
      return `${response.status} ${await response.text()}`
    }
    const before = service.requests.length
    const responses = new Set(
      await Promise.all(Array.from({ length: 300 }, read)),
    )
    // Lets calls in the background end.
    await sleep(0)
    const calls = service.requests.length - before
    console.log(`${title}: 300 readers, ${calls} call(s)`)
    for (const response of responses) console.log(`  ${response}`)
  }

  await show('a new user', 'lin')
  await show('first')
  await show('again')
  service.completeTask({
    account: 'ada',
    platform: 'discord',
    pid: 'demo',
    aid: 'feedback',
  })
  await service.settle()
  await show('after a webhook')
  await sleep(1100)
  await show('a while later')
  await sleep(1100)
  const outage = service.fail({ kind: 'status', status: 503, times: Infinity })
  await show('in an outage')
  outage.cancel()
  await show('after the outage')
}

const program = process.argv[1] ?? ''
if (import.meta.url === pathToFileURL(program).href) await demonstrate()
