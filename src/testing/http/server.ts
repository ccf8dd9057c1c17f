import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  mustBeFunction,
  mustBeText,
  type OptionRule,
  type OptionRules,
  optional,
  readOptions,
  wholeNumber,
} from '../../errors/option-checks.ts'
import { readBytes } from '../../shared/byte-chunks.ts'
import { isForbiddenPort } from '../../shared/http.ts'
import { abortableDelay, type ServiceClock } from '../clock.ts'
import { type Outcome, transmit } from '../faults/faults.ts'
import { BASE_PATH, MAX_BODY_BYTES } from './handle-request.ts'
import { isBodyless, type ServiceRequest } from './messages.ts'

/** Options of `service.listen`. */
export interface ListenOptions {
  /** The port; 0 chooses a free port. Ports that `fetch` blocks, for example 6000, are refused. @defaultValue 0 */
  port?: number | undefined
  /**
   * The address to listen on. `0.0.0.0` and `::` mean all addresses; `url` then has the loopback address.
   *
   * @defaultValue `127.0.0.1`, which other machines cannot reach
   */
  host?: string | undefined
  /**
   * Called with node:http's `IncomingMessage` and `ServerResponse` before the service handles a request. Return true to
   * respond to the request yourself, for example with a page on the same port; the service then ignores the request. If the
   * function throws, the connection is closed.
   *
   * @defaultValue none
   */
  intercept?: ((request: object, response: object) => boolean) | undefined
}

/** A running HTTP server of the service. */
export interface ListeningService {
  /** The base URL, `/api/v1` included: the client's `baseUrl`. */
  readonly url: string
  /** The port of the server. */
  readonly port: number
  /** Stops the server and closes open connections. A second call returns the same promise. */
  close(): Promise<void>
}

const mustBePort: OptionRule = (value) =>
  typeof value === 'number' && value !== 0 && isForbiddenPort(value)
    ? `must be a port that fetch does not block, got ${value}`
    : wholeNumber(0, 65_535)(value)

const LISTEN: OptionRules<ListenOptions> = {
  port: optional(mustBePort),
  host: optional(mustBeText),
  intercept: optional(mustBeFunction),
}

/** Serves the service with node:http. */
export async function listen(
  handle: (request: ServiceRequest) => Outcome,
  clock: ServiceClock,
  options: ListenOptions = {},
): Promise<ListeningService> {
  const { port = 0, host = '127.0.0.1', intercept } = readOptions('listen', options, LISTEN)
  const { createServer } = loadHttp()
  const server = createServer((request, response) => {
    respond(request, response, handle, clock, intercept).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address() as AddressInfo
  let closed: Promise<void> | undefined
  return {
    url: `http://${hostOf(address)}:${address.port}${BASE_PATH}`,
    port: address.port,
    close() {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      return closed
    },
  }
}

/** Returns the host for the URL: loopback if the server listens on all addresses. */
function hostOf({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1'
  if (address === '::') return '[::1]'
  return family === 'IPv6' ? `[${address}]` : address
}

function loadHttp(): typeof import('node:http') {
  // Not imported: the local service runs even without node:http, and Jest runs CommonJS without `import()`.
  const http = globalThis.process?.getBuiltinModule?.('node:http')
  if (http === undefined) throw new Error('service.listen() needs node:http, which this runtime does not have')
  return http
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: ServiceRequest) => Outcome,
  clock: ServiceClock,
  intercept: ListenOptions['intercept'],
): Promise<void> {
  if (intercept?.(request, response)) return
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  // Enough for `handleRequest` to refuse the body.
  const { bytes: body } = await readBytes(request, MAX_BODY_BYTES + 1)
  const { method = 'GET' } = request
  const outcome = handle({ method, url: addressOf(request), headers: toHeaders(request), body })
  if (outcome.kind === 'silent') return
  if (outcome.kind === 'lost') {
    // The client sees ECONNRESET, as after a crash of the service.
    request.socket.resetAndDestroy()
    return
  }
  const { transmission, delayMs } = outcome
  const { status, headers } = outcome.response
  const content = new TextEncoder().encode(outcome.response.body)
  if (transmission === 'whole' && delayMs > 0) await abortableDelay(clock, delayMs, closed.signal)
  response.writeHead(status, isBodyless(status) ? headers : { ...headers, 'content-length': content.length })
  for await (const part of transmit(content, outcome, clock, closed.signal)) {
    // Wait until the part was sent: `listen` destroys the response after an error.
    await new Promise((resolve) => response.write(part, resolve))
  }
  response.end()
}

/** Returns the requested URL, with the host of the client's `Host` header. */
function addressOf({ headers: { host = '127.0.0.1' }, url: target = '/' }: IncomingMessage): URL {
  const origin = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).origin : 'http://127.0.0.1'
  // Joined, not resolved: a path that starts with two slashes must not become a host.
  return new URL(target.startsWith('/') ? `${origin}${target}` : target, origin)
}

const toHeaders = ({ headersDistinct }: IncomingMessage): Headers =>
  new Headers(
    Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  )
