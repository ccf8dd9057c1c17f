import { CampaignClient } from '../src/client.ts'
import type { OperationName, RequestOf } from '../src/endpoints/index.ts'
import { createCampaignService } from '../src/testing/index.ts'

/** What each operation is asked in the examples: requests that the campaign `demo` accepts. */
export const sampleRequests: { readonly [Name in OperationName]: RequestOf<Name> } = {
  getUserProgress: { account: 'ada', platform: 'discord', pid: 'demo' },
  rewardWallet: {
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
    pid: 'demo',
    id: 'launch-party-2026',
    xp: 250,
  },
  setReferrer: { referrer: 'ada', referral: 'hedy', platform: 'discord', pid: 'demo' },
  updateUser: { account: 'linus', platform: 'discord', pid: 'demo', name: 'Linus', alias: 'penguin', team: 'kernel' },
  setReferrerByRefId: { account: 'mary', platform: 'discord', pid: 'demo', ref_id: 'ref-ada' },
  recordActionValue: {
    account: 'linus',
    platform: 'discord',
    pid: 'demo',
    cid: 'welcome',
    aid: 'connect-wallet',
    value: 1,
  },
  getCampaignInfo: { pid: 'demo' },
  getCampaignPoints: { pid: 'demo' },
  getUserProfiles: { account: 'ada', platform: 'discord', pid: 'demo' },
  getInviteCode: { code: 'WELCOME-2026', pid: 'demo' },
  registerWebhook: {
    scope: 'user_activity',
    url: 'https://partner.example/webhooks/campaign',
    secret: 'a-long-random-secret',
    hook_id: 'campaign-events',
  },
}

/** Calls any operation by its name with its sample request. */
export async function callWithSample(client: CampaignClient, operation: OperationName): Promise<unknown> {
  const method = client[operation] as (request: unknown) => Promise<unknown>
  return method.call(client, sampleRequests[operation])
}

export interface Samples {
  /** The body of a successful answer, as it travels. */
  readonly answers: ReadonlyMap<OperationName, unknown>
  /** A message about a completed task and one about a completed quest, as they travel. */
  readonly messages: Readonly<Record<'action_completed' | 'quest_completed', unknown>>
}

/** Has the service in a box answer every sample request, always alike. */
export async function recordSamples(): Promise<Samples> {
  const service = createCampaignService({ seed: 'openapi', deliver: () => new Response(null) })
  const answers = new Map<OperationName, unknown>()
  for (const operation of Object.keys(sampleRequests) as OperationName[]) {
    const client = new CampaignClient({
      baseUrl: 'https://service.example/api/v1',
      accessToken: 'any',
      webhookRegistrationPath: 'webhook',
      fetch: async (input, init) => {
        const response = await service.fetch(input, init)
        answers.set(operation, await response.clone().json())
        return response
      },
    })
    await callWithSample(client, operation)
  }
  service.registerWebhook({ url: 'https://partner.example/webhooks/campaign' })
  const user = { account: 'ada', platform: 'discord', pid: 'demo' }
  const message = (body: string): unknown => JSON.parse(body)
  return {
    answers,
    messages: {
      action_completed: message(service.emit({ ...user, kind: 'action_completed', aid: 'follow' }).body),
      quest_completed: message(service.emit({ ...user, kind: 'quest_completed', cid: 'welcome' }).body),
    },
  }
}
