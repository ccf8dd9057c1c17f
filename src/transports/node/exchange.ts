import http, { ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers'
import { TLSSocket } from 'node:tls'
import { USER_AGENT } from '../../shared/http.ts'
import {
  isRedirect,
  systemCodeOf,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../transport.ts'
import { ACCEPTED_ENCODINGS, type BodyOutcome, readResponseBody } from './read-response-body.ts'

export interface Origin {
  /** An IPv6 address is without brackets. */
  readonly host: string
  /** Empty for the default port of the scheme. */
  readonly port: string
  readonly encrypted: boolean
  /** The length of the origin in a URL. The path follows it. */
  readonly length: number
}

/** Where a request goes. */
export interface Route {
  readonly origin: Origin
  readonly agent: http.Agent
  /** Whether the caller gave the agent. */
  readonly isOwnAgent: boolean
}

/** The result of an exchange whose reused connection was not safe. Nothing was sent: try the next connection. */
export const STALE = Symbol('stale')

type Result = TransportResponse | typeof STALE

/** Only requests that may be repeated are written on a connection that was idle for longer: the server may be closing it. */
const MAX_IDLE_MS = 1_000

/** The time at which a response was read to its end on a socket. */
const lastUsed = new WeakMap<Duplex, number>()

/** One request over one connection, and its response. */
export class Exchange {
  readonly #request: TransportRequest
  readonly #route: Route
  readonly #result: Promise<Result>
  #resolve!: (result: Result) => void
  #reject!: (reason: unknown) => void
  #outgoing: ClientRequest | undefined
  #tracker: SentTracker | undefined
  #isSettled = false
  /** Whether the request waits on a reused connection and has not been written. */
  #isHeld = false
  /** After the headers of a response, `readResponseBody` handles the end of the connection. */
  #hasResponse = false

  constructor(request: TransportRequest, route: Route) {
    this.#request = request
    this.#route = route
    this.#result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  /**
   * Sends the request and reads the response.
   *
   * @throws TransportError when there is no response, or it is too large
   * @throws the reason of {@link abort}
   */
  run(): Promise<Result> {
    if (!this.#isSettled) this.#start()
    return this.#result
  }

  /** Ends the exchange. Has no effect if it has ended. */
  abort(reason: unknown): void {
    this.#end(() => this.#reject(reason))
  }

  /** Ends the exchange with a `TransportError`. Without a message, the error only wraps its cause. */
  fail(message: string, cause?: unknown): void {
    const systemCode = systemCodeOf(cause)
    const sent = this.#tracker?.maybeSent ?? false
    this.abort(new TransportError(message, { kind: 'network', sent, cause, ...(systemCode && { systemCode }) }))
  }

  #start(): void {
    let outgoing: ClientRequest
    try {
      outgoing = open(this.#request, this.#route)
    } catch (cause) {
      this.fail(this.#reasonToFail(cause), cause)
      return
    }
    this.#outgoing = outgoing
    this.#tracker = new SentTracker(outgoing)
    outgoing.on('error', (error) => this.#onError(error))
    // open() calls functions of the caller's agent. They may have cancelled the request.
    if (this.#isSettled) {
      outgoing.destroy()
      return
    }
    // Emitted before the request is written.
    outgoing.on('socket', (socket: Duplex) => this.#onSocket(socket))
    outgoing.on('response', (response) => this.#onResponse(response))
    outgoing.on('upgrade', (response: IncomingMessage, socket: Duplex) => {
      socket.destroy()
      this.#settle(withoutBody(response))
    })
    try {
      // Pass bytes. Node sends a string body together with the headers, and would then encode the headers in UTF-8.
      outgoing.end(this.#request.body && Buffer.from(this.#request.body))
    } catch (error) {
      this.fail('', error)
    }
  }

  #onSocket(socket: Duplex): void {
    const { idempotent, method } = this.#request
    const used = lastUsed.get(socket)
    const isKept = this.#outgoing?.reusedSocket || used !== undefined
    const isRecent = used !== undefined && performance.now() - used <= MAX_IDLE_MS
    // Bytes that arrived on the idle connection would be taken for the response.
    if (isKept && (socket.readableLength > 0 || !(idempotent || isRecent))) {
      // Each retry destroys one stale socket, so the retries end when none is left.
      this.#settleAndClose(STALE)
    } else if (socket.errored) {
      this.fail('', socket.errored)
    } else if (socket.destroyed) {
      this.fail(
        this.#route.isOwnAgent ? 'the agent of nodeTransport returned a closed connection' : 'the connection closed',
      )
    } else if (this.#route.origin.encrypted && isPlainText(socket)) {
      this.fail('the agent of nodeTransport returned an unencrypted connection for https')
    } else if (isKept && method === 'POST') {
      this.#hold(socket)
    } else this.#tracker?.watch(socket)
  }

  /**
   * Delays a write by two turns of the event loop. In that time, Node reports a closed connection or stray bytes.
   */
  #hold(socket: Duplex & { readonly bytesRead?: number }): void {
    this.#isHeld = true
    const { bytesRead } = socket
    socket.cork()
    const write = (): void => {
      if (socket.bytesRead !== bytesRead) this.#settleAndClose(STALE)
      if (this.#isSettled) return
      this.#isHeld = false
      this.#tracker?.watch(socket)
      socket.uncork()
    }
    setImmediate(() => setImmediate(write))
  }

  #onError(error: Error): void {
    if (this.#isHeld) this.#settleAndClose(STALE)
    else if (!this.#hasResponse) this.fail('', error)
  }

  #onResponse(response: IncomingMessage): void {
    if (this.#isHeld) {
      this.#settleAndClose(STALE)
      return
    }
    this.#hasResponse = true
    const { statusCode: status = 0, socket } = response
    if (!this.#tracker?.maybeSent) {
      // Some proxy agents return the proxy's response to CONNECT as the response to the request.
      this.fail(`the proxy refused the connection with HTTP ${status}`)
    } else if (isRedirect(status)) {
      this.#settleAndClose(withoutBody(response))
    } else {
      readResponseBody(response, this.#request.maxResponseBytes, (body) => this.#onBody(response, socket, body))
    }
  }

  #onBody(response: IncomingMessage, socket: Duplex, body: BodyOutcome): void {
    const { statusCode: status = 0 } = response
    const { maxResponseBytes } = this.#request
    if (body === 'too_large') {
      // An error response needs only its status.
      if (status >= 400) this.#settleAndClose({ ...withoutBody(response), complete: false })
      else {
        const message = `the response is larger than ${maxResponseBytes} bytes`
        this.abort(new TransportError(message, { kind: 'too_large', sent: true, status }))
      }
      return
    }
    const result = { status, header: headerOf(response), ...body }
    if (body.complete) {
      lastUsed.set(socket, performance.now())
      // Over TLS, Node may report `writableFinished` after the response, and returns the connection to the agent only then.
      // Wait for it, so that the next request can reuse the connection.
      if (this.#outgoing?.writableFinished) this.#settle(result)
      else setImmediate(() => this.#settle(result))
      // The rest of the body is not read.
    } else this.#settleAndClose(result)
  }

  /** Only the first result counts: the connection may emit further events. */
  #settle(result: Result): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#resolve(result)
  }

  #settleAndClose(result: Result): void {
    this.#end(() => this.#resolve(result))
  }

  /** Settles the exchange and closes its connection. */
  #end(settle: () => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#outgoing?.destroy()
    settle()
  }

  /** Explains why the request could not be opened. The cause has the details. */
  #reasonToFail(cause: unknown): string {
    const { origin, isOwnAgent } = this.#route
    if (systemCodeOf(cause) === 'ERR_INVALID_PROTOCOL') return wrongAgent(origin.encrypted)
    return isOwnAgent ? 'the agent of nodeTransport threw an error' : ''
  }
}

/** The error message for an agent of the wrong protocol. */
export function wrongAgent(encrypted: boolean): string {
  const [has, wants] = encrypted ? ['http', 'https'] : ['https', 'http']
  return `the agent of nodeTransport is an ${has}.Agent; baseUrl needs an ${wants}.Agent`
}

/** Creates the request. Reads `http.request` at each call, because mocks and tracers replace it. */
function open({ method, url, headers }: TransportRequest, { origin, agent }: Route): ClientRequest {
  return (origin.encrypted ? https : http).request({
    method,
    agent,
    // Proxy agents need `protocol` to find their idle connections.
    protocol: origin.encrypted ? 'https:' : 'http:',
    host: origin.host,
    port: origin.port,
    path: url.slice(origin.length),
    headers: { 'accept-encoding': ACCEPTED_ENCODINGS, 'user-agent': USER_AGENT, ...headers },
  })
}

const withoutBody = (response: IncomingMessage): TransportResponse => ({
  status: response.statusCode ?? 0,
  header: headerOf(response),
  text: '',
  complete: true,
})

const headerOf =
  ({ headers }: IncomingMessage): TransportResponse['header'] =>
  (name) => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? null : String(value)
  }

/**
 * Tracks whether a request may have been sent, from the events of its socket. An error code does not
 * show whether the connection to the proxy or to the service failed.
 *
 * Node writes a request when its socket is connected, and over TLS when the server's certificate is accepted. Before that
 * event, the request has certainly not been sent. Sockets and requests of other libraries may send without an event.
 */
class SentTracker {
  #maybeSent: boolean

  constructor(request: ClientRequest) {
    this.#maybeSent = !isExactly(request, ClientRequest)
  }

  /** False if the request has certainly not been sent. */
  get maybeSent(): boolean {
    return this.#maybeSent
  }

  /** Watches the socket of the request. Call it before the request is written. */
  watch(socket: Duplex): void {
    const sent = (): void => {
      this.#maybeSent = true
    }
    const { secureConnecting } = socket as { secureConnecting?: boolean }
    if (isExactly(socket, TLSSocket) && secureConnecting) {
      socket.once('secureConnect', sent)
      // A TLSSocket that tls.connect() did not create emits only 'secure'. A refused certificate destroys it.
      socket.once('secure', () => socket.destroyed || sent())
    } else if (isExactly(socket, Socket) && socket.pending) {
      socket.once('connect', sent)
    } else {
      sent()
    }
  }
}

/** Whether a socket is unencrypted. A stream of another library counts as encrypted. */
const isPlainText = (socket: Duplex): boolean =>
  isExactly(socket, Socket) && socket.writable && (socket.connecting || !socket.pending)

/** Unlike `instanceof`, it excludes subclasses, which may behave differently. */
function isExactly<T extends object>(value: object, type: { readonly prototype: T }): value is T {
  return Object.getPrototypeOf(value) === type.prototype
}
