/** Where the requests to one base URL go. */
export interface Origin {
  /** An IPv6 address has no brackets. */
  readonly host: string
  readonly port: string | undefined
  readonly encrypted: boolean
  /** The number of characters of a URL that the origin takes; the rest is the path. */
  readonly length: number
}

/** Caches the origins of URLs: parsing a URL takes longer than the rest of the work for a request. */
export class Origins {
  /** By scheme, host and port, so that http and https of one host stay apart. */
  readonly #known = new Map<string, Origin>()

  of(url: string): Origin {
    const end = url.indexOf('/', url.indexOf('://') + 3)
    const length = end < 0 ? url.length : end
    const prefix = url.slice(0, length)
    let origin = this.#known.get(prefix)
    if (origin === undefined) {
      const { hostname, port, protocol } = new URL(prefix)
      origin = {
        host: hostname.replace(/^\[|\]$/g, ''),
        port: port === '' ? undefined : port,
        encrypted: protocol === 'https:',
        length,
      }
      this.#known.set(prefix, origin)
    }
    return origin
  }
}
