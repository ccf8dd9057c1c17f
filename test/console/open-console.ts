import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CampaignClient } from 'campaign-client'
import { type CampaignServiceOptions, createCampaignService, createManualClock } from 'campaign-client/testing'
import { onTestFinished } from 'vitest'
import type { ActionName, ActionRequest, ActionResponse, ActionResult, Changes } from '../../src/console/protocol.ts'
import { createConsole } from '../../src/console/server/index.ts'

export const LINUS = { account: 'linus', platform: 'discord', pid: 'demo' }
export const WALLET = '0x52908400098527886E0F7030069857D2E4169EE7'

interface Options extends Pick<CampaignServiceOptions, 'campaigns' | 'webhooks'> {
  readonly secret?: string
  readonly reachable?: RegExp
  /** The token of `dev --token`. */
  readonly token?: string
}

/** Starts a service with a console. `secret` is the value of CAMPAIGN_WEBHOOK_SECRET. */
export async function openConsole({ secret, reachable = /./, campaigns, webhooks, token }: Options = {}) {
  const clock = createManualClock({ running: true })
  const service = createCampaignService({
    clock,
    ...(campaigns && { campaigns }),
    ...(webhooks && { webhooks }),
    ...(token !== undefined && { tokens: [token] }),
  })
  const { url, close } = await service.listen({
    intercept: (incoming, response) => page.intercept(incoming as IncomingMessage, response as ServerResponse),
  })
  const page = createConsole({
    service,
    clock,
    secret,
    baseUrl: url,
    accessToken: token ?? 'dev',
    registrationPath: 'webhook',
    readPageFile: (name) => `the content of ${name}`,
    setup: { operations: [], hasSecret: secret !== undefined, acceptsAnyToken: token === undefined },
    allowedHosts: ['Campaign.Test'],
    requireReachable(target) {
      if (!reachable.test(target)) throw new Error(`${target} is not this machine`)
    },
  })
  onTestFinished(async () => {
    page.close()
    await close()
  })
  const base = url.replace('/api/v1', '')
  async function responseOf<Name extends ActionName>(name: Name, argument: ActionRequest<Name>) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${base}/console/do/${name}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(argument),
    })
    return (await response.json()) as ActionResponse<Name>
  }
  return {
    ...{ url, base, service, clock, responseOf },
    client: new CampaignClient({ baseUrl: url, accessToken: token ?? 'any', maxRetries: 0 }),
    changes: async (since = ''): Promise<Changes> => (await fetch(`${base}/console/changes?since=${since}`)).json(),
    async act<Name extends ActionName>(
      name: Name,
      argument: ActionRequest<Name>,
    ): Promise<Awaited<ActionResult<Name>>> {
      const response = await responseOf(name, argument)
      if ('error' in response) throw new Error(response.error)
      return response.data as Awaited<ActionResult<Name>>
    },
  }
}

/** Starts an endpoint that records the messages that it receives. */
export async function receiver(status = 200) {
  const messages: { body: string; signature: string }[] = []
  const server = createServer(async (incoming, response) => {
    let body = ''
    for await (const chunk of incoming) body += chunk
    messages.push({ body, signature: String(incoming.headers['x-service-signature']) })
    response.writeHead(status).end('thanks')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return { messages, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

export const endpoint = (url: string, more: object = {}) => ({
  urls: [url],
  scope: 'user_activity',
  campaigns: [],
  ...more,
})
