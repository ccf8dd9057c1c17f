import { Agent, get } from 'node:http'
import axios from 'axios'
import { CampaignClient } from 'campaign-client'
import { nodeTransport } from 'campaign-client/node'
import ky from 'ky'
import OpenAI from 'openai'
import createOpenapiClient from 'openapi-fetch'
import Stripe from 'stripe'
import { OURS, OURS_ON_NODE } from './harness.ts'
import { responseText } from './response-text.ts'

/** A client made with one of the libraries. */
export interface HttpClient {
  readonly name: string
  /** Sends one request and returns the parsed body. */
  readonly call: (signal?: AbortSignal) => Promise<unknown>
  /** Whether a call accepts an AbortSignal. */
  readonly takesSignal: boolean
}

interface Paths {
  '/user/progress': {
    get: {
      parameters: { query: typeof QUERY }
      responses: { 200: { content: { 'application/json': unknown } } }
    }
  }
}

const QUERY = { account: 'ada', platform: 'discord', pid: 'demo' }
/** A token of a realistic length. The server does not check it. */
const TOKEN = `eyJhbGciOiJIUzI1NiJ9.${'eyJzdWIiOiJhZGEifQ'.repeat(8)}.${'c2lnbmF0dXJl'.repeat(4)}`

/** Creates the clients with a bearer token, without retries, and otherwise with their defaults. */
export function httpClients(origin: string, tasks: number): readonly HttpClient[] {
  const base = `${origin}/${tasks}`
  const { host: _, hostname, port } = new URL(origin)
  const headers = { authorization: `Bearer ${TOKEN}` }

  const openapi = createOpenapiClient<Paths>({ baseUrl: base, headers })
  const stripe = new Stripe(TOKEN, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false })
  const openai = new OpenAI({ apiKey: TOKEN, baseURL: base, maxRetries: 0 })
  const ours = new CampaignClient({ baseUrl: base, accessToken: TOKEN })
  const oursOnNode = new CampaignClient({ baseUrl: base, accessToken: TOKEN, transport: nodeTransport() })
  const agent = new Agent({ keepAlive: true })

  const withSignal = (signal: AbortSignal | undefined): { signal?: AbortSignal } => (signal ? { signal } : {})
  return [
    {
      name: 'bare fetch',
      takesSignal: true,
      call: async (signal) => {
        const url = `${base}/user/progress?${new URLSearchParams(QUERY)}`
        const response = await fetch(url, { headers, ...withSignal(signal) })
        return JSON.parse(await response.text())
      },
    },
    {
      name: OURS,
      takesSignal: true,
      call: (signal) => ours.getUserProgress(QUERY, signal && { signal }),
    },
    {
      name: OURS_ON_NODE,
      takesSignal: true,
      call: (signal) => oursOnNode.getUserProgress(QUERY, signal && { signal }),
    },
    {
      name: 'node:http',
      takesSignal: true,
      call: async (signal) => {
        const url = `${base}/user/progress?${new URLSearchParams(QUERY)}`
        return JSON.parse(await responseText(get(url, { agent, headers, ...withSignal(signal) })))
      },
    },
    {
      name: 'ky',
      takesSignal: true,
      call: (signal) => ky(`${base}/user/progress`, { searchParams: QUERY, headers, ...withSignal(signal) }).json(),
    },
    {
      name: 'axios',
      takesSignal: true,
      call: async (signal) => {
        const response = await axios.get(`${base}/user/progress`, { params: QUERY, headers, ...withSignal(signal) })
        return response.data
      },
    },
    {
      name: 'openapi-fetch',
      takesSignal: true,
      call: async (signal) => {
        const { data } = await openapi.GET('/user/progress', { params: { query: QUERY }, ...withSignal(signal) })
        return data
      },
    },
    {
      name: 'stripe',
      takesSignal: false,
      call: () => stripe.rawRequest('GET', `/${tasks}/user/progress?${new URLSearchParams(QUERY)}`),
    },
    {
      name: 'openai',
      takesSignal: true,
      call: (signal) => openai.get('/user/progress', { query: QUERY, ...withSignal(signal) }),
    },
  ]
}

/** @throws Error when a client does not return the complete response */
export async function checkClients(clients: readonly HttpClient[], tasks: number): Promise<void> {
  for (const { name, call } of clients) {
    const response = (await call()) as { data?: { actions: unknown[] }; actions?: unknown[] }
    const actions = (response.data ?? response).actions
    if (actions?.length !== tasks) throw new Error(`${name} returned ${actions?.length} of ${tasks} tasks`)
  }
}
