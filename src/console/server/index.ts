import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBytes } from '../../shared/byte-chunks.ts'
import type { CampaignService } from '../../testing/campaign-service.ts'
import { CONTROL_REQUESTS } from '../action-requests.ts'
import { PATHS, Problem, type Setup } from '../protocol.ts'
import { type ActionContext, performAction, plainMessage } from './actions.ts'
import { Feed } from './feed.ts'
import { Guard } from './guard.ts'

export { prepareSeed } from './actions.ts'

/** Reads a file of the built page. */
export type ReadPageFile = (name: 'page.js' | 'style.css') => string

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

/** The first segment of the paths that programs use to control the service. */
export const CONTROL = '/control/'

const RECORDS = {
  state: ({ service }: ActionContext) => service.exportSeed(),
  // JSON has no Infinity: a count of all requests becomes null, as `addFault` takes it.
  faults: ({ service }: ActionContext) => ({ faults: service.pendingFaults() }),
  requests: ({ service }: ActionContext, after: string | null) => {
    // Compares numbers: the request `after` may have been discarded.
    if (after !== null && !/^\d+$/.test(after)) throw new Problem('The number of a request is a whole number.', 'after')
    return service.requests.filter(({ id }) => after === null || id > Number(after))
  },
  deliveries: ({ service }: ActionContext, after: string | null) => {
    const { deliveries } = service
    const index = deliveries.findIndex(({ deliveryId }) => deliveryId === after)
    if (after !== null && index < 0) throw new Problem(`There is no delivery "${after}".`, 'after')
    return deliveries.slice(index + 1)
  },
}

const KNOWN =
  `The actions are: ${Object.keys(CONTROL_REQUESTS).join(', ')}. ` +
  `The records are: ${Object.keys(RECORDS).join(', ')}.`

/**
 * Responds to a request of a program under `/control/`: `POST` with the name of an action, or `GET` with the name of a record.
 * Actions take the same JSON as the page's actions.
 */
export async function control(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  query: string,
  context: ActionContext,
): Promise<void> {
  const isRecord = Object.hasOwn(RECORDS, name)
  if (!isRecord && !Object.hasOwn(CONTROL_REQUESTS, name)) {
    return sendJson(response, 404, { error: `There is no action "${name}". ${KNOWN}` })
  }
  const allow = isRecord ? 'GET' : 'POST'
  if (request.method !== allow) return sendJson(response, 405, { error: `Use ${allow}.` }, { allow })
  try {
    if (isRecord) {
      const after = new URLSearchParams(query).get('after')
      return sendJson(response, 200, RECORDS[name as keyof typeof RECORDS](context, after))
    }
    const read = await readJson(request)
    if ('error' in read) return sendJson(response, read.status, { error: read.error })
    sendJson(response, 200, (await performAction(name, read.value, context)) ?? {})
  } catch (error) {
    sendJson(response, 400, errorView(error))
  }
}

/** Returns the error of an action as JSON. */
export const errorView = (error: unknown): { error: string; field?: string } => ({
  error: plainMessage(error),
  ...(error instanceof Problem && error.field !== undefined && { field: error.field }),
})

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers?: Readonly<Record<string, string>>,
): void {
  sendText(response, status, 'application/json', JSON.stringify(value), headers)
}

/** Enough for a seed with thousands of users. */
const MAX_BODY_BYTES = 64_000_000

/** Reads the JSON of a request. Returns the status and text of the refusal when there is none. */
export async function readJson(
  request: IncomingMessage,
): Promise<{ readonly value: unknown } | { readonly status: number; readonly error: string }> {
  // Forms of another site cannot send this type. Scripts of another site need a CORS preflight, which fails.
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    return { status: 415, error: 'Send JSON, with the header content-type: application/json.' }
  }
  const { bytes, isWhole } = await readBytes(request, MAX_BODY_BYTES)
  if (!isWhole) return { status: 413, error: `Send JSON of at most ${MAX_BODY_BYTES / 1e6} MB.` }
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes)) }
  } catch {
    return { status: 400, error: 'The body is not JSON.' }
  }
}

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>campaign-client dev</title>
<link rel="icon" href="${PATHS.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${PATHS.style}">
<script type="module" src="${PATHS.script}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The console needs JavaScript. The service itself works without it.</noscript>
</body>
</html>
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#3d4bc7"/><path d="M9 21V11l7 6 7-6v10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // A cached page would show the service of an earlier run.
  'cache-control': 'no-store',
} as const

/** Sends a text with headers that prevent a browser from loading or running anything else. */
function sendText(
  response: ServerResponse,
  status: number,
  type: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, ...SECURITY_HEADERS, ...headers }).end(text)
}

/** The first segments of the page's paths. */
const SECTIONS = new Set(['', 'overview', 'start', 'users', 'requests', 'webhooks', 'faults', 'clock'])

/** Serves a file of the page. Serves the page with status 404 for an unknown path. The page then links to the overview. */
function servePage(path: string, readFile: ReadPageFile, response: ServerResponse): void {
  if (path === PATHS.script) sendText(response, 200, 'text/javascript', readFile('page.js'))
  else if (path === PATHS.style) sendText(response, 200, 'text/css', readFile('style.css'))
  else if (path === PATHS.icon) sendText(response, 200, 'image/svg+xml', ICON)
  else sendText(response, SECTIONS.has(path.split('/')[1] ?? '') ? 200 : 404, 'text/html', HTML)
}
