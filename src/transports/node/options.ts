import type { Transport } from '../transport.ts'

/** An `http.Agent` or `https.Agent` of Node, or a subclass. A structural type, so that Node's types are not needed. */
export interface NodeAgent {
  /** Maximum number of connections to one host. */
  readonly maxSockets: number
  /** The requests that wait for a connection. */
  readonly requests: object
  /** The connections in use. */
  readonly sockets: object
  /** Closes the connections. */
  destroy(): void
}

/** The options of `nodeTransport`. */
export interface NodeTransportOptions {
  /**
   * Your own agent: an `https.Agent` with a client certificate or a private CA, or a proxy agent. It cannot be combined with
   * `maxSockets` or `keepAliveMs`. `close()` does not close it. The constructor of a client throws `ConfigurationError` if
   * the protocols of the agent and `baseUrl` differ.
   *
   * @defaultValue an agent with keep-alive for each protocol
   */
  readonly agent?: NodeAgent | undefined
  /**
   * Maximum number of open connections to one host. 1 or more. Further requests wait in a queue.
   *
   * @defaultValue no limit
   */
  readonly maxSockets?: number | undefined
  /**
   * Maximum idle time of a connection in milliseconds. A server's `Keep-Alive: timeout` shortens it. Many servers close idle
   * connections after 5 s, and a request written at that moment is lost.
   *
   * @defaultValue 4000
   */
  readonly keepAliveMs?: number | undefined
}

/** The transport that `nodeTransport` returns. */
export interface NodeTransport extends Transport {
  /**
   * Closes all connections. Pending and later requests fail with `TransportError`. A second call does nothing. You need not
   * call this method: idle connections do not keep the process alive.
   */
  close(): void
}
