/**
 * A transport for Node that takes a fraction of the CPU time of `fetch`, and an `https.Agent` for client certificates,
 * private CAs and proxies.
 *
 * @module campaign-client/node
 */
import { createNodeTransport } from '#node-transport'
import type { NodeTransport, NodeTransportOptions } from './options.ts'

export type { NodeAgent, NodeTransport, NodeTransportOptions } from './options.ts'

/**
 * Creates a transport over node:http and node:https, for the `transport` option of the client. It takes about a third of the
 * CPU time of `fetch`. Several clients may share one.
 *
 * It keeps connections open between requests, decompresses gzip, deflate and br, follows no redirects, and never retries. A
 * write that would count twice uses a new connection, or one that was used within the last second: a server may close an older
 * one just as the write arrives, which would leave its outcome unknown.
 *
 * @param options - your own agent, or limits of the built-in ones
 * @throws ConfigurationError when an option is unknown or wrong, or `agent` is combined with `maxSockets` or `keepAliveMs`.
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
