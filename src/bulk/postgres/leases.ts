/** An attempt that holds its award. */
export interface Held {
  readonly id: string
  readonly token: string
}

/** Renews the leases of all attempts under way, for as long as there are any. */
export class Leases {
  readonly #held = new Map<string, Held>()
  readonly #extend: (held: readonly Held[]) => Promise<unknown>
  readonly #everyMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(leaseMs: number, extend: (held: readonly Held[]) => Promise<unknown>) {
    this.#everyMs = leaseMs / 3
    this.#extend = extend
  }

  hold(held: Held): void {
    this.#held.set(held.token, held)
    this.#timer ??= setInterval(() => this.#renew(), this.#everyMs).unref()
  }

  letGo({ token }: Held): void {
    this.#held.delete(token)
    if (this.#held.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #renew(): void {
    // A lease that can't be renewed runs out, and then the award is another attempt's: nothing is lost by it.
    this.#extend([...this.#held.values()]).catch(() => undefined)
  }
}
