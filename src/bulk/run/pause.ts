import { MAX_TIMER_MS } from '../../shared/timers.ts'

/**
 * Holds back all calls for a while, when one of them has shown that the service wants or needs it. Calls that were under
 * way then and show the same belong to the same pause.
 */
export class Pause {
  #round = 0
  #until = 0
  #timer: NodeJS.Timeout | undefined
  #over: Promise<void> | undefined
  #end: () => void = () => undefined

  /** To be kept with a call at its start, and given to {@link begin} at its end. */
  get round(): number {
    return this.#round
  }

  /** How long it still lasts, in milliseconds. */
  get remainingMs(): number {
    return this.#over === undefined ? 0 : Math.max(0, this.#until - performance.now())
  }

  /** Begins a pause, or lengthens the one there is. Whether it is a new one. */
  begin(round: number, ms: number): boolean {
    const isNew = round === this.#round
    if (isNew) this.#round++
    this.#until = Math.max(this.#until, performance.now() + ms)
    this.#over ??= new Promise((resolve) => {
      this.#end = resolve
    })
    this.#wait()
    return isNew
  }

  /** Resolves when there is no pause. */
  async over(): Promise<void> {
    while (this.#over !== undefined) await this.#over
  }

  /** Ends it now. */
  cancel(): void {
    clearTimeout(this.#timer)
    this.#over = undefined
    this.#end()
  }

  #wait(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => {
        if (performance.now() < this.#until) this.#wait()
        else this.cancel()
      },
      Math.min(MAX_TIMER_MS, Math.ceil(this.remainingMs)),
    )
  }
}
