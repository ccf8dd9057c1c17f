import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CampaignService } from 'campaign-client/testing'
import { PATHS, type Setup } from '../protocol.ts'
import { type ActionContext, performAction } from './actions.ts'
import { type ReadPageFile, sendText, servePage } from './assets.ts'
import { CONTROL, control, errorView, sendJson } from './control.ts'
import { Feed } from './feed.ts'
import { Guard } from './guard.ts'
import { readJson } from './read-json.ts'

export { prepareSeed } from './seed.ts'

interface ConsoleOptions extends Omit<ActionContext, 'feed'> {
  readonly readPageFile: ReadPageFile
  readonly setup: Setup
  /** Values of the `Host` header to allow in addition to loopback names. */
  readonly allowedHosts: readonly string[]
}

export interface Console {
  /** Responds to requests to the console and refuses requests of other sites. Returns false for requests to the service. */
  readonly intercept: (request: IncomingMessage, response: ServerResponse) => boolean
  close(): void
}

const API = '/api/'

/** Creates the console of a service. The guard protects the console and the service. */
export function createConsole(options: ConsoleOptions): Console {
  const { service, readPageFile, setup, clock } = options
  const guard = new Guard(options.allowedHosts)
  /** While the service handles a request: its response, and the time when the request arrived. */
  const responding = new AsyncLocalStorage<{ readonly response: ServerResponse; readonly since: number }>()
  const feed = new Feed({
    service,
    setup,
    aheadMs: () => clock.now() - Date.now(),
    onResponseEnd(ended) {
      const current = responding.getStore()
      current?.response.once('close', () => ended(performance.now() - current.since))
    },
  })

  const context: ActionContext = { ...options, feed }

  async function respond(request: IncomingMessage, response: ServerResponse, path: string, query: string) {
    if (path.startsWith(CONTROL)) return control(request, response, path.slice(CONTROL.length), query, context)
    if (path.startsWith(PATHS.actions)) return act(request, response, path.slice(PATHS.actions.length), context)
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain(response, 405, 'Use GET.')
    if (path === PATHS.changes) {
      const changes = feed.changesSince(new URLSearchParams(query).get('since') ?? '')
      return sendJson(response, 200, changes)
    }
    if (path === PATHS.seed) return sendSeed(response, service)
    servePage(path, readPageFile, response)
  }

  return {
    intercept(request, response) {
      const refusal = guard.refusal(request)
      const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
      if (refusal !== undefined) {
        refuse(response, path, refusal)
        return true
      }
      if (path.startsWith(API)) {
        responding.enterWith({ response, since: performance.now() })
        return false
      }
      respond(request, response, path, query).catch(() =>
        response.headersSent ? response.destroy() : plain(response, 500, 'The console could not respond.'),
      )
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

const refuse = (response: ServerResponse, path: string, error: string): void =>
  path.startsWith(CONTROL) ? sendJson(response, 403, { error }) : plain(response, 403, error)

/** Performs an action of the page. */
async function act(request: IncomingMessage, response: ServerResponse, name: string, context: ActionContext) {
  if (request.method !== 'POST') return sendJson(response, 405, { error: 'Use POST.' })
  const read = await readJson(request)
  if ('error' in read) return sendJson(response, read.status, { error: read.error })
  // A refused action also has status 200: browsers log other statuses as errors of the page.
  const result = await performAction(name, read.value, context).then((data) => ({ data }), errorView)
  sendJson(response, 200, result)
}
