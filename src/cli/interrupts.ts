/**
 * Ctrl-C and its like. The first one asks a command to come to an orderly end; the second takes the process down at once,
 * as everybody expects who presses it again.
 */
export class Interrupts {
  readonly #controller = new AbortController()
  #received: NodeJS.Signals | undefined
  #watching = false

  /** Aborted by the first signal. From the first look at it on, signals no longer end the process by themselves. */
  get signal(): AbortSignal {
    if (!this.#watching) {
      this.#watching = true
      for (const name of SIGNALS) process.on(name, this.#onSignal)
    }
    return this.#controller.signal
  }

  /** The signal that came, if one did. */
  get received(): NodeJS.Signals | undefined {
    return this.#received
  }

  /**
   * Lets the process die of the signal it got. A shell that sees an orderly exit would go on with the next line of the
   * script, though its user has pressed Ctrl-C.
   */
  dieOf(name: NodeJS.Signals): void {
    this.#release()
    process.kill(process.pid, name)
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    this.#received = name
    // What comes next finds no listener, and ends the process.
    this.#release()
    this.#controller.abort(new Error(`ended by ${name}`))
  }

  #release(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
