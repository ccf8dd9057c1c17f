import { holdProcess, MAX_TIMER_MS } from '../shared/timers.ts'

/** One timer of the system's in place of many of our own: it rings for the first of them. */
export class Alarm {
  readonly #ring: () => void
  #handle: ReturnType<typeof setTimeout> | undefined
  #at = Infinity
  #holdsProcess = false

  /** @param ring - must set it again if it is to ring again */
  constructor(ring: () => void) {
    this.#ring = ring
  }

  /** Rings at `at`, or before if it was set to. */
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

  /** Whether the process lives on until it rings. */
  holdProcess(holds: boolean): void {
    this.#holdsProcess = holds
    holdProcess(this.#handle, holds)
  }
}
