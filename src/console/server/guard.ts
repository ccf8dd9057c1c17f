import type { IncomingMessage } from 'node:http'
import { isLoopback } from '../../shared/http.ts'

/**
 * Refuses requests that web pages of other sites make in a browser of this machine. `Origin` and `Sec-Fetch-Site` reveal
 * such requests to 127.0.0.1. `Host` reveals requests to a foreign host name that resolves to this machine (DNS rebinding).
 * The port in `Host` is not checked, because a container may map ports.
 */
export class Guard {
  readonly #names: ReadonlySet<string>

  constructor(allowedHosts: readonly string[]) {
    this.#names = new Set(allowedHosts.map((name) => name.toLowerCase()))
  }

  /** Returns the reason why a request is refused; `undefined` when it is allowed. */
  refusal({ headers, headersDistinct, method }: IncomingMessage): string | undefined {
    const [host, ...others] = headersDistinct.host ?? []
    const name = host === undefined || others.length > 0 ? undefined : nameOf(`http://${host}`)
    if (name === undefined || !(isLoopback(name) || this.#names.has(name))) {
      return `"${name ?? 'this host'}" is not an allowed host name. Start dev with --allowed-host to allow it.`
    }
    if (hasForeignOrigin(headers.origin, host)) return 'Pages of other origins may not call this service.'
    const site = headers['sec-fetch-site']
    const isNavigation = headers['sec-fetch-mode'] === 'navigate' && method === 'GET'
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation) {
      return 'Other sites may not call this service.'
    }
    return undefined
  }
}

/** Whether the headers `Origin` and `Host` show that a page of another site sent the request. */
export const hasForeignOrigin = (origin: string | undefined, host: string | undefined): boolean =>
  origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase())

const nameOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined)
