import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TOKEN } from './suite/secrets.ts'

/** A loopback service with the faults for suite/loopback.ts. */
export interface LoopbackService {
  readonly url: string
  /**
   * Returns the unexpected requests after a complete run of the suite.
   *
   * @param resendsReads - whether the runtime sends a read again when a kept connection is lost
   */
  problems(resendsReads: boolean): string[]
  close(): Promise<void>
}

/** Each operation has its own fault, so that behaviours do not depend on their order. */
export async function startLoopbackService(
  createCampaignService: typeof import('campaign-client/testing').createCampaignService,
): Promise<LoopbackService> {
  const service = createCampaignService({ tokens: [TOKEN] })
  service.fail({ on: 'updateUser', kind: 'drip', delayMs: 1, times: Infinity })
  service.fail({ on: 'getInviteCode', kind: 'status', status: 503, headers: { 'retry-after': '0' }, times: 2 })
  service.fail({ on: 'getCampaignPoints', kind: 'hang', times: Infinity })
  service.fail({ on: 'getCampaignInfo', kind: 'truncate', times: Infinity })
  service.fail({ on: 'setReferrer', kind: 'reset' })
  service.fail({ on: 'recordActionValue', kind: 'reset', times: Infinity })
  service.fail({ on: 'rewardWallet', kind: 'applied_then_reset' })
  service.fail({
    on: 'getUserProfiles',
    kind: 'status',
    status: 302,
    headers: { location: '/elsewhere' },
    times: Infinity,
  })
  const { url, close } = await service.listen()
  return {
    url,
    close,
    problems(resendsReads) {
      const expected = {
        getInviteCode: 3,
        getCampaignPoints: 2,
        getUserProfiles: 1,
        setReferrer: 2,
        recordActionValue: 1,
        rewardWallet: 2,
      }
      const problems: string[] = []
      for (const [operation, count] of Object.entries(expected)) {
        const found = service.requests.filter((request) => request.operation === operation).length
        const isExpected = found === count || (resendsReads && operation === 'getCampaignPoints' && found > count)
        if (!isExpected) problems.push(`the service received ${found} requests for ${operation}, not ${count}`)
      }
      if (service.requests.some(({ path }) => path.includes('elsewhere'))) problems.push('a redirect was followed')
      return problems
    },
  }
}

/** Returns a loopback URL on which no server listens. */
export async function closedUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}/api/v1`
}
