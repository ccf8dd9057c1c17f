import { CampaignClient } from '../src/client.ts'
import { exampleRequests } from '../src/endpoints/arguments.ts'
import { endpoints, type OperationName } from '../src/endpoints/index.ts'
import { createCampaignService } from '../src/testing/index.ts'

/** Calls an operation with its example request. */
export function callWithSample(client: CampaignClient, operation: OperationName): Promise<unknown> {
  const method = client[operation] as ((request: unknown) => Promise<unknown>) | undefined
  if (method === undefined) throw new Error(`CampaignClient has no method ${operation}`)
  return method.call(client, exampleRequests[operation])
}

export interface Samples {
  /** The body of a successful response. */
  readonly responses: ReadonlyMap<OperationName, unknown>
  /** The body of a webhook message. */
  readonly messages: Readonly<Record<'action_completed' | 'quest_completed', unknown>>
}

/** Records the responses of the local service to the example requests. The seed makes generated IDs reproducible. */
export async function recordSamples(): Promise<Samples> {
  const service = createCampaignService({ idSeed: 'openapi', deliver: () => new Response(null) })
  const responses = new Map<OperationName, unknown>()
  for (const operation of Object.keys(endpoints) as OperationName[]) {
    const client = new CampaignClient({
      baseUrl: 'https://service.example/api/v1',
      accessToken: 'any',
      webhookRegistrationPath: 'webhook',
      fetch: async (input, init) => {
        const response = await service.fetch(input, init)
        responses.set(operation, await response.clone().json())
        return response
      },
    })
    await callWithSample(client, operation)
  }
  service.registerWebhook({ url: 'https://partner.example/webhooks/campaign' })
  const user = { account: 'ada', platform: 'discord', pid: 'demo' }
  const message = (body: string): unknown => JSON.parse(body)
  return {
    responses,
    messages: {
      action_completed: message(service.emit({ ...user, kind: 'action_completed', aid: 'follow' }).body),
      quest_completed: message(service.emit({ ...user, kind: 'quest_completed', cid: 'welcome' }).body),
    },
  }
}
