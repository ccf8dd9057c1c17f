import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CampaignService } from 'campaign-client/testing'
import { PATHS, type Setup } from '../protocol.ts'
import { type ActionParts, performAction } from './actions.ts'
import { type PageAssets, sendText, servePage } from './assets.ts'
import { EventStream } from './event-stream.ts'
import { Feed } from './feed.ts'
import { Guard } from './guard.ts'

export type { PageAssets } from './assets.ts'
export { withSecret } from './seed.ts'

export interface ConsoleOptions extends Omit<ActionParts, 'feed'> {
  readonly page: PageAssets
  readonly setup: Setup
  /** Names besides those of loopback that this machine is called by. */
  readonly allowedHosts: readonly string[]
  readonly clock: ActionParts['clock'] & { now(): number }
}

export interface Console {
  /** Answers a request to the console, and every one that comes from elsewhere. Those it leaves are the service's. */
  readonly intercept: (request: IncomingMessage, response: ServerResponse) => boolean
  close(): void
}

const API = '/api/'
/** A seed with thousands of users fits. */
const MAX_BODY_BYTES = 64_000_000

/** The console of a service, and the guard at the door that both share. */
export function createConsole(options: ConsoleOptions): Console {
  const { service, page, setup, clock } = options
  const guard = new Guard(options.allowedHosts)
  const stream = new EventStream()
  const feed = new Feed(service, stream, setup, () => clock.now())
  const parts: ActionParts = { ...options, feed }

  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (path.startsWith(PATHS.actions)) return act(request, response, path.slice(PATHS.actions.length), parts)
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(response, 405, 'This is read by GET.')
    if (path === PATHS.events) return stream.connect(response, feed.everything())
    if (path === PATHS.seed) return sendSeed(response, service)
    if (!servePage(path, page, response)) plain(response, 404, `There is nothing at ${path}.`)
  }

  return {
    intercept(request, response) {
      const refusal = guard.refusal(request)
      const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
      if (refusal !== undefined) plain(response, 403, refusal)
      else if (path.startsWith(API)) return false
      else answer(request, response, path).catch(() => response.destroy())
      return true
    },
    close() {
      feed.close()
      stream.close()
    },
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

async function act(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  parts: ActionParts,
): Promise<void> {
  const send = (status: number, body: unknown) => sendText(response, status, 'application/json', JSON.stringify(body))
  if (request.method !== 'POST') return send(405, { error: 'An action is a POST.' })
  // A form of another page can't send this type without asking first, and is never allowed to.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return send(415, { error: 'Send JSON.' })
  let asked: unknown
  try {
    asked = JSON.parse(await readText(request))
  } catch {
    send(400, { error: `Send JSON of at most ${MAX_BODY_BYTES / 1e6} MB.` })
    return
  }
  // What cannot be done is an answer like any other: a browser would tell another status as a fault of the page.
  const answer = await performAction(name, asked, parts).then(
    (data) => ({ data }),
    (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
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
