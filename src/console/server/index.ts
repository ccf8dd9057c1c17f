import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CampaignService } from 'campaign-client/testing'
import { Problem } from '../problem.ts'
import { PATHS, type Setup } from '../protocol.ts'
import { type ActionContext, performAction, plainMessage } from './actions.ts'
import { type PageAssets, sendText, servePage } from './assets.ts'
import { Feed } from './feed.ts'
import { Guard } from './guard.ts'

export type { PageAssets } from './assets.ts'
export { withSecret } from './seed.ts'

export interface ConsoleOptions extends Omit<ActionContext, 'feed'> {
  readonly page: PageAssets
  readonly setup: Setup
  /** Values of the `Host` header to allow in addition to loopback names. */
  readonly allowedHosts: readonly string[]
}

export interface Console {
  /** Answers requests to the console and refuses requests of other sites. Returns false for requests to the service. */
  readonly intercept: (request: IncomingMessage, response: ServerResponse) => boolean
  close(): void
}

const API = '/api/'
/** Enough for a seed with thousands of users. */
const MAX_BODY_BYTES = 64_000_000

/** Creates the console of a service. The guard protects the console and the service. */
export function createConsole(options: ConsoleOptions): Console {
  const { service, page, setup, clock } = options
  const guard = new Guard(options.allowedHosts)
  /** The current response and the arrival time of its request. */
  const answering = new AsyncLocalStorage<{ readonly response: ServerResponse; readonly since: number }>()
  const feed = new Feed({
    ...{ service, setup },
    aheadMs: () => clock.now() - Date.now(),
    onAnswerEnd(ended) {
      const current = answering.getStore()
      current?.response.once('close', () => ended(performance.now() - current.since))
    },
  })
  const context: ActionContext = { ...options, feed }

  async function answer(request: IncomingMessage, response: ServerResponse, path: string, query: string) {
    if (path.startsWith(PATHS.actions)) return act(request, response, path.slice(PATHS.actions.length), context)
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(response, 405, 'Use GET.')
    if (path === PATHS.changes) {
      const changes = feed.changesSince(new URLSearchParams(query).get('since') ?? '')
      return sendText(response, 200, 'application/json', JSON.stringify(changes))
    }
    if (path === PATHS.seed) return sendSeed(response, service)
    servePage(path, page, response)
  }

  return {
    intercept(request, response) {
      const refusal = guard.refusal(request)
      const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
      if (refusal !== undefined) plain(response, 403, refusal)
      else if (path.startsWith(API)) {
        answering.enterWith({ response, since: performance.now() })
        return false
      } else answer(request, response, path, query).catch(() => response.destroy())
      return true
    },
    close: () => feed.close(),
  }
}

const plain = (response: ServerResponse, status: number, text: string): void =>
  sendText(response, status, 'text/plain', `${text}\n`)

function sendSeed(response: ServerResponse, service: CampaignService): void {
  const text = `${JSON.stringify(service.exportSeed(), undefined, 2)}\n`
  sendText(response, 200, 'application/json', text, {
    'content-disposition': 'attachment; filename="campaign-seed.json"',
  })
}

async function act(request: IncomingMessage, response: ServerResponse, name: string, context: ActionContext) {
  const send = (status: number, answer: unknown) =>
    sendText(response, status, 'application/json', JSON.stringify(answer))
  if (request.method !== 'POST') return send(405, { error: 'Use POST.' })
  // Forms of another site cannot send this type. Scripts of another site need a CORS preflight, which fails.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return send(415, { error: 'Send JSON.' })
  let body: unknown
  try {
    body = JSON.parse(await readText(request))
  } catch {
    return send(400, { error: `Send JSON of at most ${MAX_BODY_BYTES / 1e6} MB.` })
  }
  // A refused action also has status 200: browsers log other statuses as errors of the page.
  const answer = await performAction(name, body, context).then(
    (data) => ({ data }),
    (error: unknown) => ({ error: plainMessage(error), ...(error instanceof Problem && { field: error.field }) }),
  )
  send(200, answer)
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error('too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
