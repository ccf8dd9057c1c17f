import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { ChildStep, ChildTask } from './run-program.ts'

/** A run in a process of its own, and what it told. */
export class RunProcess {
  readonly #process: ChildProcess
  readonly #steps: ChildStep[] = []
  readonly #closed: Promise<unknown>
  #changed: () => void = () => undefined
  #errors = ''

  constructor(program: string, task: ChildTask) {
    this.#process = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: 'pipe' })
    this.#closed = once(this.#process, 'close')
    onTestFinished(async () => void (await this.kill()))
    this.#process.stderr?.on('data', (chunk) => {
      this.#errors += chunk
    })
    this.#process.stdin?.on('error', () => undefined)
    if (this.#process.stdout) {
      createInterface({ input: this.#process.stdout }).on('line', (line) => {
        this.#steps.push(JSON.parse(line) as ChildStep)
        this.#changed()
      })
    }
    void this.#closed.then(() => this.#changed())
  }

  get pid(): number {
    return this.#process.pid as number
  }

  /** The first step of one of these kinds. */
  async step<Kind extends ChildStep['step']>(...kinds: Kind[]): Promise<Extract<ChildStep, { step: Kind }>> {
    const found = await this.#until(({ step }) => kinds.includes(step as Kind))
    if (found !== undefined) return found as Extract<ChildStep, { step: Kind }>
    throw new Error(`The process ended without ${kinds}: ${JSON.stringify(this.#steps.slice(-5))}\n${this.#errors}`)
  }

  /** Resolves when so many calls have ended, or the process has. */
  async calls(count: number): Promise<void> {
    await this.#until((step) => step.step === 'ended' && step.calls >= count)
  }

  async #until(isIt: (step: ChildStep) => boolean): Promise<ChildStep | undefined> {
    for (let seen = 0; ; ) {
      for (; seen < this.#steps.length; seen++) if (isIt(this.#steps[seen] as ChildStep)) return this.#steps[seen]
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) return undefined
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }

  goOn(): void {
    this.#process.stdin?.write('\n')
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Resolves when it is gone: to whether it was still running. */
  async kill(): Promise<boolean> {
    this.#process.kill('SIGKILL')
    await this.#closed
    return this.#process.signalCode === 'SIGKILL'
  }
}
