import { holdProcess, MAX_TIMER_MS } from '../../shared/timers.ts'

/** One system timer for all timers of a clock. It rings when the first of them is due. */
export class Alarm {
  readonly #ring: () => void
  #handle: ReturnType<typeof setTimeout> | undefined
  #at = Infinity
  #holdsProcess = false

  /** @param ring - called when the alarm rings; sets the next alarm, if there is one */
  constructor(ring: () => void) {
    this.#ring = ring
  }

  /** Rings at `at`, unless it is already set to ring earlier. */
  set(at: number, now: number): void {
    if (at >= this.#at) return
    globalThis.clearTimeout(this.#handle)
    this.#at = at
    this.#handle = globalThis.setTimeout(
      () => {
        this.clear()
        this.#ring()
      },
      Math.min(Math.max(0, at - now), MAX_TIMER_MS),
    )
    this.holdProcess(this.#holdsProcess)
  }

  clear(): void {
    globalThis.clearTimeout(this.#handle)
    this.#handle = undefined
    this.#at = Infinity
  }

  /** Sets whether the alarm keeps the process alive until it rings. */
  holdProcess(holds: boolean): void {
    this.#holdsProcess = holds
    holdProcess(this.#handle, holds)
  }
}
