/** The claim of an award, with the token that proves it. */
interface Claim {
  readonly id: string
  readonly token: string
}

/** Renews the leases of all claims until they are removed. When a lease expires, another attempt may claim the award. */
export class LeaseRenewer {
  readonly #claims = new Map<string, Claim>()
  readonly #extend: (claims: readonly Claim[]) => Promise<unknown>
  readonly #intervalMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(leaseMs: number, extend: (claims: readonly Claim[]) => Promise<unknown>) {
    this.#intervalMs = leaseMs / 3
    this.#extend = extend
  }

  add(claim: Claim): void {
    this.#claims.set(claim.token, claim)
    this.#timer ??= setInterval(() => this.#renew(), this.#intervalMs).unref()
  }

  remove({ token }: Claim): void {
    this.#claims.delete(token)
    if (this.#claims.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #renew(): void {
    // A failure is ignored: the next renewal may succeed before the lease expires.
    this.#extend([...this.#claims.values()]).catch(() => undefined)
  }
}
