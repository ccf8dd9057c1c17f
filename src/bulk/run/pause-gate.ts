/**
 * Delays calls during a pause. After the pause it lets one call through as a probe, and all calls when the probe has an
 * answer.
 *
 * {@link enter} returns the number of pauses so far. Pass this number to the other methods when the call ends, so that a call
 * from before a pause does not start another pause.
 */
export class PauseGate {
  #state: 'open' | 'paused' | 'probing' = 'open'
  #pauseCount = 0
  #until = 0
  #hasProbe = false
  #timer: NodeJS.Timeout | undefined
  #waiting: (() => void)[] = []

  /** The rest of the pause, in milliseconds. */
  get remainingMs(): number {
    return this.#state === 'paused' ? Math.max(0, this.#until - performance.now()) : 0
  }

  /** Waits until a call may be made. Returns the number of pauses so far. */
  async enter(): Promise<number> {
    while (this.#state === 'paused' || (this.#state === 'probing' && this.#hasProbe)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#hasProbe = true
    return this.#pauseCount
  }

  /** Whether a pause has started after the call entered. */
  hasPausedSince(pauseCount: number): boolean {
    return pauseCount !== this.#pauseCount
  }

  /** Starts a pause, or extends the pause that started during the call. */
  pause(ms: number, pauseCount: number): void {
    const isNew = !this.hasPausedSince(pauseCount)
    if (!isNew && this.#state !== 'paused') return
    this.#until = Math.max(isNew ? 0 : this.#until, performance.now() + ms)
    if (isNew) this.#pauseCount++
    this.#state = 'paused'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#admitProbe(), Math.ceil(this.remainingMs))
  }

  /** Opens the gate if the answered call was the probe. */
  answered(pauseCount: number): void {
    if (!this.hasPausedSince(pauseCount)) this.open()
  }

  /** If the ended call was the probe, makes the next call the probe. */
  replaceProbe(pauseCount: number): void {
    if (!this.hasPausedSince(pauseCount) && this.#state === 'probing') this.#admitProbe()
  }

  /** Lets all calls through. */
  open(): void {
    clearTimeout(this.#timer)
    this.#state = 'open'
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  #admitProbe(): void {
    this.#state = 'probing'
    this.#hasProbe = false
    this.#waiting.shift()?.()
  }
}
