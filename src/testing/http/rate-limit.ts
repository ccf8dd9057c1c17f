import { HttpError } from './responses.ts'

/** The option `rateLimit` of the local service. */
export interface ServiceRateLimit {
  /** How many requests per second each token may send: more than 0, at most 1 000 000. */
  perSecond: number
}

/** Limits the requests of each token, on the service's clock. */
export class RateLimit {
  readonly #perSecond: number
  /** How many requests are allowed in each period of `#periodMs`. */
  readonly #count: number
  readonly #periodMs: number
  /** The times of the last `#count` admitted requests of each token, as a ring: `next` is the index of the oldest. */
  readonly #admitted = new Map<string, { readonly times: number[]; next: number }>()

  constructor({ perSecond }: ServiceRateLimit) {
    this.#perSecond = perSecond
    this.#count = Math.ceil(perSecond)
    this.#periodMs = (1_000 * this.#count) / perSecond
  }

  /** Admits a request, or returns its refusal with 429. */
  admit(token: string, now: number): HttpError | undefined {
    const admitted = this.#admitted.get(token) ?? { times: [], next: 0 }
    this.#admitted.set(token, admitted)
    const oldest = admitted.times[admitted.next] ?? -Infinity
    const waitMs = oldest + this.#periodMs - now
    // After a reset of the clock, the time may be in the future: it no longer counts.
    if (waitMs > 0 && oldest <= now) {
      const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
      const reason = `more than ${this.#perSecond} requests per second with this token: see \`rateLimit\`, or \`dev --rate-limit\``
      return new HttpError(429, reason, { headers: { 'retry-after': String(seconds) } })
    }
    admitted.times[admitted.next] = now
    admitted.next = (admitted.next + 1) % this.#count
    return undefined
  }

  clear(): void {
    this.#admitted.clear()
  }
}
