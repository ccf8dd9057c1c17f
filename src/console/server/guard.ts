import type { IncomingMessage } from 'node:http'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']

/**
 * Decides which requests come from this machine's user. A web page can make a browser call 127.0.0.1, which shows in
 * `Origin` and `Sec-Fetch-Site`. A host name of its own can lead here (DNS rebinding), which shows in `Host`. Ports are
 * not compared: those of a container may be mapped.
 */
export class Guard {
  readonly #names: ReadonlySet<string>

  constructor(allowedHosts: readonly string[]) {
    this.#names = new Set([...LOOPBACK, ...allowedHosts.map((name) => name.toLowerCase())])
  }

  /** Why a request is refused, in words; `undefined` when it is allowed. */
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
