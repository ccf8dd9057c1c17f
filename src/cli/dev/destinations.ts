import type { Deliver } from 'campaign-client/testing'

/** The hosts that messages may go to. */
export interface Destinations {
  readonly deliver: Deliver
  /** @throws Error when messages may not go to this URL */
  requireReachable(url: string): void
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Messages stay on this machine, unless a host was named: what is tried out here must not reach a hosted endpoint. */
export function destinations(named: readonly string[]): Destinations {
  const allowed = new Set(named.map((name) => name.toLowerCase()))
  function requireReachable(url: string): void {
    if (!URL.canParse(url)) return
    const { hostname } = new URL(url)
    if (LOOPBACK.test(hostname) || allowed.has(hostname)) return
    throw new Error(`"${hostname}" is not this machine. Start dev with --endpoint-host ${hostname} to send there.`)
  }
  return {
    requireReachable,
    async deliver(request) {
      requireReachable(request.url)
      return fetch(request)
    },
  }
}
