import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { RunStep, RunTask } from './run-program.ts'

/** Runs `run-program.ts` in a child process, and collects the steps that it prints. */
export class RunProcess {
  readonly #process: ChildProcess
  readonly #steps: RunStep[] = []
  readonly #closed: Promise<unknown>
  #changed: () => void = () => undefined
  #errors = ''

  /**
   * @param nodeOptions - command-line options of Node.js
   * @param wrapper - a command that runs the command after it, such as strace
   */
  constructor(program: string, task: RunTask, nodeOptions: readonly string[] = [], wrapper: readonly string[] = []) {
    const [command, ...args] = [...wrapper, process.execPath, ...nodeOptions, program, JSON.stringify(task)]
    this.#process = spawn(command as string, args, {
      env: { ...process.env, CAMPAIGN_TEST_UNSTARVED: '1' },
      stdio: 'pipe',
    })
    this.#closed = once(this.#process, 'close')
    onTestFinished(async () => void (await this.kill()))
    this.#process.stderr?.on('data', (chunk) => {
      this.#errors += chunk
    })
    this.#process.stdin?.on('error', () => undefined)
    if (this.#process.stdout) {
      createInterface({ input: this.#process.stdout }).on('line', (line) => {
        this.#steps.push(JSON.parse(line) as RunStep)
        this.#changed()
      })
    }
    void this.#closed.then(() => this.#changed())
  }

  /** Resolves to the first step of one of these kinds. */
  async step<Kind extends RunStep['step']>(...kinds: Kind[]): Promise<Extract<RunStep, { step: Kind }>> {
    const found = await this.#find(({ step }) => kinds.includes(step as Kind))
    if (found !== undefined) return found as Extract<RunStep, { step: Kind }>
    throw new Error(`The process ended without ${kinds}: ${JSON.stringify(this.#steps.slice(-5))}\n${this.#errors}`)
  }

  /** Resolves when this number of calls has ended, or when the process ends. */
  async calls(count: number): Promise<void> {
    await this.#find((step) => step.step === 'ended' && step.calls >= count)
  }

  /** Resolves when the run has reported this number of awards, or when the process ends. */
  async reported(awarded: number): Promise<void> {
    await this.#find((step) => step.step === 'progress' && step.awarded >= awarded)
  }

  /** Resolves when the process has ended and its output is read. */
  async ended(): Promise<void> {
    await this.#closed
  }

  async #find(matches: (step: RunStep) => boolean): Promise<RunStep | undefined> {
    for (let seen = 0; ; ) {
      for (; seen < this.#steps.length; seen++) if (matches(this.#steps[seen] as RunStep)) return this.#steps[seen]
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) return undefined
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }

  resume(): void {
    this.#process.stdin?.write('\n')
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Kills the process and waits for its end. @returns whether it was still running */
  async kill(): Promise<boolean> {
    this.#process.kill('SIGKILL')
    await this.#closed
    return this.#process.signalCode === 'SIGKILL'
  }
}
