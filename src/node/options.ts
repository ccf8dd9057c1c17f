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
   * An agent of your own: an `https.Agent` with a client certificate or a private CA, or the agent of a proxy. It
   * decides how connections are made and kept, so `maxSockets` and `keepAliveMs` don't go with it, and closing the
   * transport leaves it open. A client whose base URL is of the other protocol than the agent is refused with a
   * `ConfigurationError`. Default: one with keep-alive for each protocol.
   */
  readonly agent?: NodeAgent | undefined
  /** How many connections may be open to one host at once; further requests wait in line. Default: no limit. */
  readonly maxSockets?: number | undefined
  /**
   * How long an idle connection is kept, in milliseconds; a server's `Keep-Alive: timeout` shortens it. Default 4 000:
   * many servers close after 5 s, and a request written at that moment is lost.
   */
  readonly keepAliveMs?: number | undefined
}

/** A transport over node:http and node:https, made by `nodeTransport`. */
export interface NodeTransport extends Transport {
  /**
   * Ends the connections and all requests, under way or in line for one, and refuses further ones. A second call does
   * nothing. Idle connections never keep the process alive, so calling it is a matter of order, not of need.
   */
  close(): void
}
