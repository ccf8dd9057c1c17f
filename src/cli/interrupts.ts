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

  /** Ends this process by the received signal, if any. Ending by a signal also stops a calling shell script. */
  raise(): void {
    if (this.received) process.kill(process.pid, this.received)
  }

  /** From now on, a signal ends the process. */
  stop(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal)
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    this.received = name
    this.stop()
    this.#controller.abort(new Error('interrupted'))
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
