/** Handles SIGINT, SIGTERM and SIGHUP. The first signal asks the command to finish cleanly, the second ends the process. */
export class Interrupts {
  readonly #controller = new AbortController()
  #received: NodeJS.Signals | undefined
  #watching = false

  /** Aborted by the first signal. Reading it starts the handling: before that, a signal ends the process. */
  get signal(): AbortSignal {
    if (!this.#watching) {
      this.#watching = true
      for (const name of SIGNALS) process.on(name, this.#onSignal)
    }
    return this.#controller.signal
  }

  /** The signal that was received, if any. */
  get received(): NodeJS.Signals | undefined {
    return this.#received
  }

  /** Ends the process by the signal it received. After an orderly exit, a shell would run the next line of its script. */
  dieOf(name: NodeJS.Signals): void {
    this.#release()
    process.kill(process.pid, name)
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    this.#received = name
    // Without a listener, the next signal ends the process.
    this.#release()
    this.#controller.abort(new Error(`ended by ${name}`))
  }

  #release(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
