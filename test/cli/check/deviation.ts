import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CampaignService, type CampaignServiceOptions, createCampaignService } from 'campaign-client/testing'
import { onTestFinished } from 'vitest'
import { type AnsweredQuestion, type CheckResult, resultOf, runCheck } from '../../../src/cli/check/check.ts'
import { Probe } from '../../../src/cli/check/probe.ts'
import { type Profile, type Result, targetOf } from '../../../src/cli/check/profile.ts'
import { Check, type CheckArguments } from '../../../src/cli/check/question.ts'
import type { Cancellation, TransportRequest, TransportResponse } from '../../../src/transports/transport.ts'

/** Answers a request instead of the service, or changes the answer of the service. */
export type Deviation = (
  request: Request,
  pass: (request?: Request) => Promise<Response>,
) => Promise<Response> | Response

export const ADDRESS = 'http://127.0.0.1:4600/api/v1'
export const WALLET = `0x${'ab'.repeat(20)}`
/** A token with an issuer, a subject and an expiry. */
export const TOKEN = [
  Buffer.from('{"alg":"HS256"}').toString('base64url'),
  Buffer.from('{"iss":"issuer.example","sub":"organization-7","exp":4102444800}').toString('base64url'),
  'signature-of-nobody',
].join('.')

/** Creates a local service that accepts one token. */
export const localService = (options: CampaignServiceOptions = {}): CampaignService =>
  createCampaignService({ tokens: [TOKEN], ...options })

export const ALL: CheckArguments = { pid: 'demo', account: 'ada', platform: 'discord', code: 'WELCOME-2026' }

export interface Checked extends CheckResult {
  readonly answered: readonly AnsweredQuestion[]
  readonly requests: readonly TransportRequest[]
  /** Returns the result of a question. */
  result(id: string): Result | undefined
  /** The whole content of the table and the profile. */
  readonly output: string
}

interface CheckedOptions {
  readonly service?: CampaignService
  readonly deviation?: Deviation
  readonly args?: Partial<CheckArguments>
  readonly earlier?: Profile
  readonly token?: string
  readonly address?: string
}

/** Runs the check on a service with a deviation, without waits between the requests. */
export async function checked(options: CheckedOptions = {}): Promise<Checked> {
  const { service = localService(), deviation = (_, pass) => pass(), token = TOKEN, address = ADDRESS } = options
  const requests: TransportRequest[] = []
  const probe = new Probe({
    transport: {
      async send(request: TransportRequest, { signal }: Cancellation): Promise<TransportResponse> {
        requests.push(request)
        const { method, url, headers, body = null } = request
        const original = new Request(url, { method, headers, body, signal })
        const response = await deviation(original, (other = original) => service.fetch(other))
        return {
          status: response.status,
          header: (name) => response.headers.get(name),
          text: await response.text(),
          complete: true,
        }
      },
    },
    baseUrl: address,
    maxRequests: 60,
    token,
    signal: new AbortController().signal,
    wait: async () => undefined,
  })
  const check = new Check({ ...ALL, ...options.args }, probe)
  const answered = await runCheck(check)
  const result = resultOf(check, answered, targetOf(address, token), options.earlier)
  const shown = answered.map(({ question, finding }) => [question.text, question.assumed, finding])
  return {
    ...result,
    answered,
    requests,
    result: (id) => answered.find(({ question }) => question.id === id)?.finding.result,
    output: JSON.stringify([result, shown]),
  }
}

/** Starts an HTTP server in front of the local service, for tests that run the command. */
export async function deviatingServer(deviation: Deviation = (_, pass) => pass(), service?: CampaignService) {
  const target = service ?? localService()
  const server = http.createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const { method = 'GET', url = '/', headers } = incoming
    const request = new Request(`http://127.0.0.1${url}`, {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': headers['content-type'] ?? '' },
      body: chunks.length > 0 ? Buffer.concat(chunks) : null,
    })
    try {
      const response = await deviation(request, (other = request) => target.fetch(other))
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.end(Buffer.from(await response.arrayBuffer()))
    } catch {
      outgoing.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const env = { CAMPAIGN_BASE_URL: `http://127.0.0.1:${port}/api/v1`, CAMPAIGN_ACCESS_TOKEN: TOKEN }
  return { env, service: target }
}
