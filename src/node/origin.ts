/** Where the requests of one base URL go. */
export interface Origin {
  /** An IPv6 address without its brackets. */
  readonly host: string
  readonly port: string | undefined
  readonly encrypted: boolean
  /** How much of an address the origin is; the rest is the path. */
  readonly length: number
}

/** Finds the origin of an address. Parsing a URL takes longer than the rest of a request, and origins are few. */
export class Origins {
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
