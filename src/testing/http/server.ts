import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { callHook } from '../../shared/call-hook.ts'
import { isForbiddenPort } from '../../shared/hosts-and-ports.ts'
import {
  isFunction,
  isText,
  type OptionRule,
  type OptionRules,
  optional,
  readOptions,
  wholeNumber,
} from '../../shared/options.ts'
import { typeName } from '../../shared/types.ts'
import { delay } from '../clock/delay.ts'
import type { ServiceClock } from '../clock/service-clock.ts'
import type { FaultOutcome } from '../faults/fault-plan.ts'
import { internalError, MAX_BODY_BYTES } from './exchange.ts'
import { BASE_PATH } from './router.ts'
import type { ServiceRequest } from './service-message.ts'
import { isBodyless, type ServiceAnswer } from './service-message.ts'

/** Options of `service.listen`. */
export interface ListenOptions {
  /** The port; 0 takes a free one. A port that `fetch` refuses to connect to, such as 6000, is refused. @defaultValue 0 */
  port?: number | undefined
  /**
   * The address to listen on. `0.0.0.0` and `::` listen on all addresses; `url` is then the loopback address.
   *
   * @defaultValue `127.0.0.1`, which other machines cannot reach
   */
  host?: string | undefined
  /**
   * Called with node:http's `IncomingMessage` and `ServerResponse` before the service handles a request. When it returns
   * true, it answers itself and the service does not see the request: for pages and probes on the same port. When it
   * throws or returns anything but a boolean, the answer is 500 with the reason in `x-refusal-reason`.
   *
   * @defaultValue none
   */
  intercept?: ((request: object, response: object) => boolean) | undefined
}

/** A running HTTP server of the service. */
export interface ListeningService {
  /** The base URL, `/api/v1` included: the client's `baseUrl`. */
  readonly url: string
  /** The port it listens on. */
  readonly port: number
  /** Stops the server and closes open connections. A second call returns the same promise. */
  close(): Promise<void>
}

const port: OptionRule = (value) =>
  typeof value === 'number' && value !== 0 && isForbiddenPort(value)
    ? [{ path: [], message: `must be a port that fetch connects to, got ${value}`, isRange: true }]
    : wholeNumber(0, 65_535)(value)

const LISTEN: OptionRules<ListenOptions> = {
  port: optional(port),
  host: optional(isText),
  intercept: optional(isFunction),
}

/**
 * Serves the service with node:http.
 *
 * @throws TypeError when an option is unknown or of the wrong type
 * @throws RangeError when `port` is not a port, or one that `fetch` refuses to connect to
 * @throws Error of the system when the address or port is not available
 */
export async function listen(
  answer: (request: ServiceRequest) => FaultOutcome,
  clock: ServiceClock,
  options: ListenOptions = {},
): Promise<ListeningService> {
  const { port = 0, host = '127.0.0.1', intercept } = readOptions('listen', options, LISTEN)
  const { createServer } = await loadHttp()
  const server = createServer((request, response) => {
    try {
      if (intercept !== undefined && isTaken(intercept(request, response))) return
    } catch (error) {
      if (response.headersSent) return response.destroy()
      return write(response, internalError(`intercept: ${String(error)}`))
    }
    respond(request, response, answer, clock).catch(() => response.destroy())
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

/** @throws TypeError when the answer is not a boolean: a promise would count as true */
function isTaken(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  // If it is a promise, its rejection must not end the process.
  callHook(() => answer)
  throw new TypeError(`must return true or false, returned ${typeName(answer)}`)
}

function write(response: ServerResponse, { status, headers, body }: ServiceAnswer): void {
  response.writeHead(status, headers).end(body)
}

/** Returns a host to connect to: for the address of all interfaces, loopback. */
function hostOf({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1'
  if (address === '::') return '[::1]'
  return family === 'IPv6' ? `[${address}]` : address
}

async function loadHttp(): Promise<typeof import('node:http')> {
  // Jest runs CommonJS in a context without `import()`. `getBuiltinModule` exists since Node 20.16 and 22.3.
  const builtin = globalThis.process?.getBuiltinModule?.('node:http')
  if (builtin !== undefined) return builtin
  // Not a literal, so that bundlers for browsers and Workers do not follow it.
  const specifier = ['node', 'http'].join(':')
  return import(/* @vite-ignore */ /* webpackIgnore: true */ specifier)
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (request: ServiceRequest) => FaultOutcome,
  clock: ServiceClock,
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const body = await readBody(request)
  const outcome = answer({
    method: request.method ?? 'GET',
    url: addressOf(request),
    headers: toHeaders(request),
    body,
  })
  if (outcome.kind === 'silent') return
  if (outcome.kind === 'lost') {
    // A reset instead of an orderly end: the client sees ECONNRESET, as after a crash.
    request.socket.resetAndDestroy()
    return
  }
  const { transmission, delayMs } = outcome
  const { status, headers } = outcome.answer
  const bytes = new TextEncoder().encode(outcome.answer.body)
  if (transmission === 'whole' && delayMs > 0) await delay(clock, delayMs, gone.signal)
  response.writeHead(status, isBodyless(status) ? headers : { ...headers, 'content-length': bytes.length })
  if (transmission === 'whole') {
    response.end(bytes)
  } else if (transmission === 'dripped') {
    for (let index = 0; index < bytes.length; index++) {
      if (index > 0) await delay(clock, delayMs, gone.signal)
      response.write(bytes.subarray(index, index + 1))
    }
    response.end()
  } else {
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => {
      if (transmission === 'truncated') request.socket.destroy()
    })
  }
}

/** The URL that the client asked for, with the host as the client names it. */
function addressOf({ headers: { host = '127.0.0.1' }, url: target = '/' }: IncomingMessage): URL {
  const named = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).origin : 'http://127.0.0.1'
  // Joined, not resolved: a target that starts with two slashes is a path, not another host.
  return new URL(target.startsWith('/') ? `${named}${target}` : target, named)
}

/** Reads at most one chunk more than the limit, so that `exchange` can refuse the body. */
async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    if (size > MAX_BODY_BYTES) continue
    chunks.push(chunk)
    size += chunk.length
  }
  const body = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.length
  }
  return body
}

function toHeaders(request: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headersDistinct)) {
    for (const single of value ?? []) headers.append(name, single)
  }
  return headers
}
