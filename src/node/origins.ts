export interface Origin {
  /** An IPv6 address is without brackets. */
  readonly host: string
  /** Empty for the default port of the scheme. */
  readonly port: string
  readonly encrypted: boolean
  /** The length of the origin in a URL. The path follows it. */
  readonly length: number
}

/** Caches the origins of URLs. Parsing a URL takes longer than all other work for a request. */
export class Origins {
  /** By scheme, host and port. */
  readonly #known = new Map<string, Origin>()

  of(url: string): Origin {
    const end = url.indexOf('/', url.indexOf('://') + 3)
    const length = end < 0 ? url.length : end
    const prefix = url.slice(0, length)
    let origin = this.#known.get(prefix)
    if (origin === undefined) {
      const { hostname, port, protocol } = new URL(prefix)
      origin = {
        host: hostname.replace(/[[\]]/g, ''),
        port,
        encrypted: protocol === 'https:',
        length,
      }
      this.#known.set(prefix, origin)
    }
    return origin
  }
}
