import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Deliveries of one file, from `PREFIX0` on. */
export interface StormTask {
  readonly path: string
  readonly prefix: string
  readonly count: number
  readonly leaseMs: number
}

/** A process that runs sqlite-storm.ts. */
export class StormProcess {
  readonly #process: ChildProcess
  readonly #exit: Promise<unknown[]>
  #lines = 0
  #errors = ''

  constructor(file: string, task: StormTask) {
    this.#process = spawn(process.execPath, [file, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.#process.stdout?.on('data', (chunk) => {
      this.#lines += String(chunk).split('\n').length - 1
      this.#process.emit('progress')
    })
    this.#process.stderr?.on('data', (chunk) => {
      this.#errors += chunk
    })
    this.#exit = once(this.#process, 'close')
  }

  /** Waits until the process has applied a number of deliveries, or has ended. */
  async progress(deliveries: number): Promise<void> {
    while (this.#lines < deliveries && this.#process.exitCode === null) {
      await Promise.race([once(this.#process, 'progress'), this.#exit])
    }
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#exit
  }

  /** Waits for the end. Returns the exit code. */
  async ended(): Promise<unknown> {
    const [code] = await this.#exit
    if (code !== 0) throw new Error(`the process ended with ${code}: ${this.#errors}`)
    return code
  }
}
