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
    // A lease that is not renewed runs out, and another attempt may take the award: nothing is lost.
    this.#extend([...this.#held.values()]).catch(() => undefined)
  }
}
