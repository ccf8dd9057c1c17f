/** The latest of what happened, by key: beyond a number, the oldest leave. */
export class Recent<Key, Value> {
  readonly #values = new Map<Key, Value>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  set(key: Key, value: Value): void {
    this.#values.set(key, value)
    if (this.#values.size <= this.#limit) return
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest)
      return
    }
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  /** Oldest first. */
  values(): Value[] {
    return [...this.#values.values()]
  }

  clear(): void {
    this.#values.clear()
  }
}
