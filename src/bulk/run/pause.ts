import { MAX_TIMER_MS } from '../../shared/timers.ts'

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

  /** Taken at the start of a call, and passed to the other methods at its end. */
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
    this.#startTimer()
    return isNew
  }

  /** The call was answered. */
  answered(round: number): void {
    if (round === this.#round) this.end()
  }

  /** The call told nothing: where it was the probe, another one takes its place. */
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

  #startTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        if (performance.now() < this.#until) return this.#startTimer()
        this.#state = 'probing'
        this.#isProbeTaken = false
        this.#waiting.shift()?.()
      },
      Math.min(MAX_TIMER_MS, Math.ceil(this.remainingMs)),
    )
  }
}
