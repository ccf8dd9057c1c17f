import { CampaignClient, type CampaignClientOptions, type CampaignError, type OperationName } from 'campaign-client'
import { type DefaultBodyType, HttpResponse, http, type StrictRequest } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { operation } from '../contract/operations.ts'

export const BASE_URL = 'https://service.example/api/v1'
export const ACCESS_TOKEN = 'opaque-token-8f2c41'

/** The path of webhook registration in the stub. */
const REGISTRATION_PATH = 'webhooks'

/** Returns the URL of an operation without its query. */
export function addressOf(name: OperationName): string {
  const { path } = operation(name)
  return `${BASE_URL}${path === 'not shown' ? `/${REGISTRATION_PATH}` : path}`
}

/** A response of the stub. */
export interface StubResponse {
  readonly status?: number
  readonly body?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns the JSON of a value. */
export const json = (value: unknown): string => JSON.stringify(value)

/** Replaces the network. An unexpected request fails the test. */
export function stubService() {
  const server = setupServer()
  const received: StrictRequest<DefaultBodyType>[] = []
  beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
  afterEach(() => {
    server.resetHandlers()
    received.length = 0
  })
  afterAll(() => server.close())
  return {
    /** The requests of this test. */
    received: received as readonly Request[],
    /** Sets the response of one operation. Requests of other operations fail the test. */
    respond(name: OperationName, { status = 200, body = null, headers = {} }: StubResponse): void {
      server.use(
        http[operation(name).writes ? 'post' : 'get'](addressOf(name), ({ request }) => {
          received.push(request.clone())
          return new HttpResponse(body, { status, headers })
        }),
      )
    },
  }
}

/** Creates a client without retries. */
export function clientWith(options: Partial<CampaignClientOptions> = {}): CampaignClient {
  return new CampaignClient({
    baseUrl: BASE_URL,
    accessToken: ACCESS_TOKEN,
    maxRetries: 0,
    webhookRegistrationPath: REGISTRATION_PATH,
    ...options,
  })
}

/** Returns the rejection of a call. Fails if it resolves. */
export async function rejection(call: Promise<unknown>): Promise<CampaignError> {
  let data: unknown
  try {
    data = await call
  } catch (error) {
    return error as CampaignError
  }
  throw new Error(`expected a rejection, but the call resolved to ${JSON.stringify(data)}`)
}
