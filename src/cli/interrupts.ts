/** Handles SIGINT, SIGTERM and SIGHUP: the first aborts {@link Interrupts.signal}, the second ends the process. */
export class Interrupts {
  readonly #controller = new AbortController()
  /** The first signal received. */
  received: NodeJS.Signals | undefined
  #watching = false

  /** Aborted by the first signal. Until a command reads this property, a signal ends the process. */
  get signal(): AbortSignal {
    if (!this.#watching) {
      this.#watching = true
      for (const name of SIGNALS) process.on(name, this.#onSignal)
    }
    return this.#controller.signal
  }

  /** Sends the signal to this process. Ending by a signal also stops a calling shell script. */
  raise(name: NodeJS.Signals): void {
    process.kill(process.pid, name)
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    this.received = name
    // Without a listener, the next signal ends the process.
    this.#release()
    this.#controller.abort(new Error(`ended by ${name}`))
  }

  #release(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
