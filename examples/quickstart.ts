/**
 * The main features, from start to end:
 *
 *   npm pkg set type=module
 *   npm install tsx@4
 *   npx tsx quickstart.ts
 *
 * Starts the local service on loopback and sends every request to it.
 *
 * With CAMPAIGN_BASE_URL and CAMPAIGN_ACCESS_TOKEN set, it only reads from that
 * service. CAMPAIGN_PID, CAMPAIGN_ACCOUNT and CAMPAIGN_PLATFORM select the
 * campaign and the user.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  ApiError,
  CampaignClient,
  CampaignError,
  NetworkError,
  ReferralRejectedError,
} from 'campaign-client'
import { rewardId } from 'campaign-client/bulk'
import { createCampaignService } from 'campaign-client/testing'
import { createWebhookReceiver, verifyWebhook } from 'campaign-client/webhook'

const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

const { CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN } = process.env
if (CAMPAIGN_BASE_URL !== undefined && CAMPAIGN_ACCESS_TOKEN !== undefined) {
  await readFrom(CAMPAIGN_BASE_URL, CAMPAIGN_ACCESS_TOKEN)
} else {
  await tryEverything()
}

async function readFrom(baseUrl: string, accessToken: string): Promise<void> {
  const pid = process.env.CAMPAIGN_PID ?? 'demo'
  const account = process.env.CAMPAIGN_ACCOUNT ?? 'ada'
  const platform = process.env.CAMPAIGN_PLATFORM ?? 'discord'
  const client = new CampaignClient({ baseUrl, accessToken })
  heading(`Reading from ${new URL(baseUrl).host} (no writes)`)
  await attempt('campaign info', async () => {
    const { name, actions, quests } = await client.getCampaignInfo({ pid })
    return `"${name}" has ${actions.length} tasks and ${quests.length} quests`
  })
  await attempt('campaign points', async () => {
    const points = await client.getCampaignPoints({ pid })
    return `${points.total_points} points, season "${points.season.name}"`
  })
  await attempt(`progress of ${account}`, async () => {
    const progress = await client.getUserProgress({ account, platform, pid })
    return `${progress.total} XP, rank ${progress.rank}`
  })
  await attempt(`profiles of ${account}`, async () => {
    const { profiles } = await client.getUserProfiles({
      account,
      platform,
      pid,
    })
    return `${profiles.length} linked`
  })
}

async function tryEverything(): Promise<void> {
  const service = createCampaignService({ idSeed: 'quickstart' })
  const { url: baseUrl, close } = await service.listen()
  const receiver = await receiveWebhooks()
  service.registerWebhook({
    scope: 'user_activity',
    url: receiver.url,
    secret: receiver.secret,
  })

  const client = new CampaignClient({
    baseUrl,
    accessToken: async () => 'a-token-from-your-vault',
    hooks: {
      onRetry: ({ attempt, delayMs, error }) =>
        note(
          `attempt ${attempt} failed (${error.code}); ` +
            `retry in ${Math.round(delayMs)} ms`,
        ),
    },
  })
  const ada = { account: 'ada', platform: 'discord', pid: 'demo' }

  heading(`The local service listens on ${baseUrl}`)
  await attempt('read the progress of ada', async () => {
    const progress = await client.getUserProgress(ada)
    const done = progress.actions.filter(
      (task) => task.status === 'completed',
    ).length
    return (
      `${progress.total} XP, rank ${progress.rank}, ` +
      `${done} of ${progress.actions.length} tasks completed`
    )
  })

  heading('Award XP, once')
  const wallet = { address: WALLET, pid: 'demo' }
  // The same award always gets the same ID, and the service accepts it once.
  const id = rewardId({ ...wallet, reason: 'launch party' })
  const award = { ...wallet, id, xp: 250 }
  await attempt('award 250 XP to a wallet', async () => {
    await client.rewardWallet(award)
    return 'awarded'
  })
  // The outcome is about this call: the first call made the award.
  await expectRefusal('award it again under the same id', ApiError, () =>
    client.rewardWallet(award),
  )

  heading('Referrals')
  await attempt('make ada the referrer of a new user, hedy', async () => {
    await client.setReferrer({
      referrer: 'ada',
      referral: 'hedy',
      platform: 'discord',
      pid: 'demo',
    })
    return 'set; hedy is registered now'
  })
  await expectRefusal('let ada refer herself', ReferralRejectedError, () =>
    client.setReferrer({
      referrer: 'ada',
      referral: 'ada',
      platform: 'discord',
      pid: 'demo',
    }),
  )

  heading('Record a task value')
  await attempt('hedy connects a wallet in the quest "welcome"', async () => {
    await client.recordActionValue({
      account: 'hedy',
      platform: 'discord',
      pid: 'demo',
      cid: 'welcome',
      aid: 'connect-wallet',
      value: 1,
    })
    const { total } = await client.getUserProgress({ ...ada, account: 'hedy' })
    return `recorded; hedy now has ${total} XP`
  })

  heading('Errors and retries')
  service.fail({ on: 'getCampaignPoints', kind: 'status', status: 503 })
  await attempt(
    'read points while the service responds with 503 once',
    async () => {
      const { total_points } = await client.getCampaignPoints({ pid: 'demo' })
      return `${total_points} points, after one retry`
    },
  )
  service.fail({ on: 'getUserProgress', kind: 'reset' })
  await attempt('read progress while the connection is lost once', async () => {
    const { rank } = await client.getUserProgress(ada)
    return `rank ${rank}, after one retry`
  })
  service.fail({ on: 'recordActionValue', kind: 'applied_then_reset' })
  await expectRefusal(
    'record a value and lose the response: not sent twice',
    NetworkError,
    () =>
      client.recordActionValue({
        ...ada,
        cid: 'spread-the-word',
        aid: 'daily-visit',
        value: 1,
      }),
  )

  heading('Webhooks')
  await service.settle()
  for (const line of receiver.handled)
    show('received, verified and handled once', line)
  const forged = receiver.lastBody.replace('"xp":', '"xp":9')
  const accepted = verifyWebhook(
    receiver.secret,
    forged,
    receiver.lastSignature,
  )
  show(
    'the same message with its XP changed',
    accepted ? 'accepted' : 'refused: the signature does not match',
  )

  await receiver.close()
  await close()
  console.log(
    '\nAll requests went to the local service on this machine. ' +
      'Next: README.md, and the other examples.',
  )
}

/**
 * Starts a webhook receiver on loopback. It verifies each message, handles it
 * once and keeps the last one.
 */
async function receiveWebhooks() {
  const secret = 'whsec-quickstart'
  const handled: string[] = []
  const last = { body: '', signature: '' }
  const receiver = createWebhookReceiver({
    endpoint: 'quickstart',
    secret,
    handle(event, { rawBody }) {
      last.body = new TextDecoder().decode(rawBody)
      handled.push(
        event.kind === 'unknown'
          ? `unknown (${event.type})`
          : `${event.kind}: ${event.payload.event.data.xp} XP`,
      )
    },
  })
  const server = createServer((request, response) => {
    last.signature = String(request.headers['x-service-signature'])
    void receiver.node(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    secret,
    handled,
    url: `http://127.0.0.1:${port}/webhooks`,
    get lastBody() {
      return last.body
    },
    get lastSignature() {
      return last.signature
    },
    async close() {
      await receiver.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function attempt(
  step: string,
  run: () => Promise<string>,
): Promise<void> {
  try {
    show(step, await run())
  } catch (error) {
    if (!(error instanceof CampaignError)) throw error
    show(step, `${error.name}: ${error.message}`)
    process.exitCode = 1
  }
}

/** Runs a call that must fail. Ends the script when the call succeeds. */
async function expectRefusal(
  step: string,
  expected: typeof ApiError | typeof NetworkError,
  run: () => Promise<unknown>,
): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof expected)) throw error
    show(step, `${error.name} (outcome: ${error.outcome}): ${error.message}`)
    return
  }
  throw new Error(`${step}: the call did not fail`)
}

function heading(text: string): void {
  console.log(`\n${text}`)
}

function show(step: string, result: string): void {
  console.log(`  ${step}\n    → ${result}`)
}

function note(text: string): void {
  console.log(`    · ${text}`)
}
