/**
 * Holds all calls back for a while, then lets one through as a probe, and the others once that is answered. Calls that were
 * already under way belong to the same pause.
 */
export class Pause {
  #state: 'none' | 'waiting' | 'probing' = 'none'
  #round = 0
  #until = 0
  #isProbeTaken = false
  #timer: NodeJS.Timeout | undefined
  #waiting: (() => void)[] = []

  /** The number of the current pause. Read it when a call starts, and pass it to the other methods when the call ends. */
  get round(): number {
    return this.#round
  }

  /** How long calls are still held back, in milliseconds. */
  get remainingMs(): number {
    return this.#state === 'waiting' ? Math.max(0, this.#until - performance.now()) : 0
  }

  /** Resolves when a call may be made. */
  async admitted(): Promise<void> {
    for (;;) {
      if (this.#state === 'none') return
      if (this.#state === 'probing' && !this.#isProbeTaken) {
        this.#isProbeTaken = true
        return
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Begins a pause, or lengthens the one that the call belongs to. @returns whether it is a new one */
  begin(round: number, ms: number): boolean {
    const isNew = round === this.#round
    if (!isNew && this.#state !== 'waiting') return false
    this.#until = Math.max(isNew ? 0 : this.#until, performance.now() + ms)
    if (isNew) this.#round++
    this.#state = 'waiting'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#probe(), Math.ceil(this.remainingMs))
    return isNew
  }

  /** The call was answered. */
  answered(round: number): void {
    if (round === this.#round) this.end()
  }

  /** The call tells nothing about the service. If it was the probe, another call takes its place. */
  passOn(round: number): void {
    if (round !== this.#round || this.#state !== 'probing') return
    this.#isProbeTaken = false
    this.#waiting.shift()?.()
  }

  /** Lets all calls through. */
  end(): void {
    clearTimeout(this.#timer)
    this.#state = 'none'
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  #probe(): void {
    this.#state = 'probing'
    this.#isProbeTaken = false
    this.#waiting.shift()?.()
  }
}
