/**
 * A transport for Node. It uses less CPU time than `fetch`, and supports agents for client certificates, private CAs and
 * proxies.
 *
 * @module campaign-client/node
 */
import { createNodeTransport } from '#node-transport'
import type { NodeTransport, NodeTransportOptions } from './node-transport.ts'

export type { NodeAgent, NodeTransport, NodeTransportOptions } from './node-transport.ts'

/**
 * Creates a transport over node:http and node:https, for the `transport` option of the client. It uses about a third of the
 * CPU time of `fetch`. Several clients may share a transport.
 *
 * The transport keeps connections open between requests and decompresses gzip, deflate and br. A write that must not be
 * sent twice uses a new connection, or a connection that was used within the last second. The server might close a
 * connection that has been idle for longer just as the write arrives, and the outcome would be unknown.
 *
 * It sends `user-agent: campaign-client/VERSION`. The `headers` of a client or call replace it.
 *
 * @param options - Your own agent, or settings of the built-in agents.
 * @throws ConfigurationError when an option is wrong, or `agent` is combined with `maxSockets` or `keepAliveMs`.
 *
 * @example
 * ```ts
 * import { CampaignClient } from 'campaign-client'
 * import { nodeTransport } from 'campaign-client/node'
 *
 * const client = new CampaignClient({
 *   baseUrl: 'https://service.example/api/v1',
 *   accessToken: async () => loadTokenFromVault(),
 *   transport: nodeTransport(),
 * })
 * ```
 */
export function nodeTransport(options: NodeTransportOptions = {}): NodeTransport {
  return createNodeTransport(options)
}
