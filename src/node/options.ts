import type { Transport } from '../transport.ts'

/**
 * An `http.Agent` or `https.Agent` of Node, or one made from them, by structure: the types of Node are not needed to
 * compile against this package.
 */
export interface NodeAgent {
  readonly maxSockets: number
  readonly requests: object
  readonly sockets: object
  destroy(): void
}

/** Options of `nodeTransport`. All have defaults. */
export interface NodeTransportOptions {
  /**
   * Your own agent: an `https.Agent` with a client certificate or a private CA, or a proxy agent. It makes and keeps
   * the connections, so it cannot be combined with `maxSockets` or `keepAliveMs`, and `close()` leaves it open. If its
   * protocol is not that of `baseUrl`, creating the client throws `ConfigurationError`.
   *
   * @defaultValue one agent with keep-alive for each protocol
   */
  readonly agent?: NodeAgent | undefined
  /**
   * Maximum number of open connections to one host, 1 or more. Further requests wait in a queue.
   *
   * @defaultValue no limit
   */
  readonly maxSockets?: number | undefined
  /**
   * How long an idle connection is kept, in milliseconds. A server's `Keep-Alive: timeout` shortens it. Many servers close
   * idle connections after 5 s, and a request written at that moment is lost.
   *
   * @defaultValue 4000
   */
  readonly keepAliveMs?: number | undefined
}

/** A transport over node:http and node:https, made by `nodeTransport`. */
export interface NodeTransport extends Transport {
  /**
   * Closes all connections. Requests that are in flight or in the queue fail with `TransportError`, and so do later ones.
   * A second call does nothing. Calling it is optional: idle connections do not keep the process alive.
   */
  close(): void
}
