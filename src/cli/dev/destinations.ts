import type { Deliver } from 'campaign-client/testing'
import { isLoopback } from '../../shared/hosts-and-ports.ts'

/** Allows this machine and the given hosts only, so that test messages never reach a hosted endpoint. */
export function destinations(hosts: readonly string[]): { deliver: Deliver; requireReachable(url: string): void } {
  const allowed = new Set(hosts.map((host) => host.toLowerCase()))
  /** @throws Error when messages to this URL are not allowed */
  function requireReachable(url: string): void {
    if (!URL.canParse(url)) return
    const { hostname } = new URL(url)
    if (isLoopback(hostname) || allowed.has(hostname)) return
    throw new Error(
      `"${hostname}" is not this machine. Start dev with --endpoint-host ${hostname} to send messages there.`,
    )
  }
  return {
    requireReachable,
    async deliver(request) {
      requireReachable(request.url)
      return fetch(request)
    },
  }
}
