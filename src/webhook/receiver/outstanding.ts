/** Counts what is not through yet, for those who wait until nothing is. */
export class Outstanding {
  #count = 0
  #waiting: (() => void)[] = []

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    for (const callback of this.#waiting.splice(0)) callback()
  }

  get isNone(): boolean {
    return this.#count === 0
  }

  /** Resolves when nothing is outstanding, which may have changed again by the time the caller goes on. */
  none(): Promise<void> {
    if (this.isNone) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
