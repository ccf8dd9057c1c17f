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
 * Sends requests with node:http and node:https, at about half the CPU time of `fetch`. For the `transport` option
 * of the client; one may serve many clients.
 *
 * It keeps connections open between requests, follows no redirect, decompresses gzip, deflate and br, also on top of each
 * other, and sends nothing twice by itself. A write that would count twice goes out on a new connection, or on one that was
 * used within the last second, because a server may close an older one at any moment and leave its outcome unknown.
 *
 * @throws ConfigurationError when an option is unknown or wrong, or `agent` comes with an option that belongs to ours.
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
