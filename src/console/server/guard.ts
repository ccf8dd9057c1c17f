import type { IncomingMessage } from 'node:http'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Refuses requests that web pages of other sites make with this user's browser. `Origin` and `Sec-Fetch-Site` reveal
 * requests to 127.0.0.1. `Host` reveals a foreign host name that resolves to this machine (DNS rebinding). The port in
 * `Host` is not checked, since a container's port may be mapped.
 */
export class Guard {
  readonly #names: ReadonlySet<string>

  constructor(allowedHosts: readonly string[]) {
    this.#names = new Set([...LOOPBACK, ...allowedHosts.map((name) => name.toLowerCase())])
  }

  /** Returns the reason why a request is refused; `undefined` when it is allowed. */
  refusal({ headers, headersDistinct, method }: IncomingMessage): string | undefined {
    const [host, ...others] = headersDistinct.host ?? []
    const name = host === undefined || others.length > 0 ? undefined : nameOf(`http://${host}`)
    if (name === undefined || !this.#names.has(name)) {
      return `"${name ?? 'this host'}" is not a name of this service. Start it with --allowed-host if it should be.`
    }
    const { origin } = headers
    if (origin !== undefined && (nameOf(origin) === undefined || new URL(origin).host !== host?.toLowerCase())) {
      return 'Pages of other origins may not call this service.'
    }
    const site = headers['sec-fetch-site']
    const isVisit = headers['sec-fetch-mode'] === 'navigate' && method === 'GET'
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isVisit) {
      return 'Other sites may not call this service.'
    }
    return undefined
  }
}

const nameOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).hostname : undefined)
