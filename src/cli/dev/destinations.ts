import type { Deliver } from 'campaign-client/testing'
import { isLoopback } from '../../shared/hosts-and-ports.ts'

/** The hosts that webhook messages may be sent to. */
export interface Destinations {
  readonly deliver: Deliver
  /** @throws Error when messages must not be sent to this URL */
  requireReachable(url: string): void
}

/** Allows this machine and the named hosts only, so that test messages never reach a hosted endpoint. */
export function destinations(named: readonly string[]): Destinations {
  const allowed = new Set(named.map((name) => name.toLowerCase()))
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
