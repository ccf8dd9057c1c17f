/** The latest values by key, and which of them have changed since a revision. Beyond a limit the oldest are dropped. */
export class Recent<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly revision: number }>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  set(key: string, value: Value, revision: number): void {
    this.#entries.set(key, { value, revision })
    if (this.#entries.size <= this.#limit) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  /** The values that were set after a revision, oldest key first. */
  since(revision: number): Value[] {
    return [...this.#entries.values()].filter((entry) => entry.revision > revision).map(({ value }) => value)
  }

  clear(): void {
    this.#entries.clear()
  }
}
