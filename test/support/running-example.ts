import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** An example that serves HTTP. */
export interface RunningExample {
  readonly process: ChildProcess
  /** The URL that it listens on. */
  readonly url: string
  /** The lines on standard output so far, except `listening on URL`. */
  readonly lines: readonly string[]
  /** The lines on standard error so far. */
  readonly errors: readonly string[]
  /** Resolves to the exit code or the signal. */
  readonly ended: Promise<unknown>
}

/**
 * Starts a compiled example on a free port, and waits until it listens. Kills it after the test.
 *
 * @param file - a path that `compiled` returned
 */
export function startExample(file: string, env: NodeJS.ProcessEnv): Promise<RunningExample> {
  return startServing([process.execPath, file], env)
}

/** Like {@link startExample}, for a command that prints its URL in the same way. */
export function startServing(
  [command = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<RunningExample> {
  const child = spawn(command, args, {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
  const lines: string[] = []
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => void errors.push(line))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`the example ended before it listened:\n${errors.join('\n')}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /^listening on (.+)$/.exec(line)?.[1]
      if (url === undefined) lines.push(line)
      else resolve({ process: child, url, lines, errors, ended })
    })
  })
}
