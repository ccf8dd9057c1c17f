/** The process that receives the signals: `process`, or that of a test. */
export type SignalledProcess = Pick<NodeJS.Process, 'on' | 'off' | 'kill' | 'pid'>

/**
 * Handles SIGINT, SIGTERM and SIGHUP: the first aborts the signal of {@link Interrupts.abortOnFirst}. The next one ends the
 * process, or aborts the signal of {@link Interrupts.abortOnSecond} if a command has called that method; then the third ends the
 * process.
 */
export class Interrupts {
  readonly #process: SignalledProcess
  readonly #first = new AbortController()
  readonly #second = new AbortController()
  /** The first signal received. */
  received: NodeJS.Signals | undefined
  #watching = false
  #usesSecond = false

  constructor(process: SignalledProcess) {
    this.#process = process
  }

  /** Returns the signal that the first interrupt aborts. Until a command calls this method, an interrupt ends the process. */
  abortOnFirst(): AbortSignal {
    if (!this.#watching) {
      this.#watching = true
      for (const name of SIGNALS) this.#process.on(name, this.#onSignal)
    }
    return this.#first.signal
  }

  /** Returns the signal that the second interrupt aborts. */
  abortOnSecond(): AbortSignal {
    this.#usesSecond = true
    return this.#second.signal
  }

  /** Ends this process by the received signal, if any. Ending by a signal also stops a calling shell script. */
  raise(): void {
    this.stop()
    if (this.received) this.#process.kill(this.#process.pid, this.received)
  }

  /** From now on, a signal ends the process. */
  stop(): void {
    this.#watching = false
    for (const name of SIGNALS) this.#process.off(name, this.#onSignal)
  }

  /** Calls `cleanUp` when a signal ends the process. @returns a function that calls it now instead */
  cleanUpOnSignal(cleanUp: () => void): () => void {
    const onSignal = (name: NodeJS.Signals): void => {
      end()
      this.#process.kill(this.#process.pid, name)
    }
    const end = (): void => {
      for (const name of SIGNALS) this.#process.off(name, onSignal)
      cleanUp()
    }
    for (const name of SIGNALS) this.#process.on(name, onSignal)
    return end
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    if (this.#first.signal.aborted) {
      this.stop()
      this.#second.abort(new Error('interrupted'))
      return
    }
    this.received = name
    if (!this.#usesSecond) this.stop()
    this.#first.abort(new Error('interrupted'))
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
