import { spawn } from 'node:child_process'

/** The result of a command. */
export interface CommandResult {
  /** The exit code; `null` if the command was killed, for example by its timeout. */
  readonly code: number | null
  readonly stdout: string
  /** Standard output and standard error, interleaved. */
  readonly output: string
}

/** Options of a command. */
export interface CommandOptions {
  readonly cwd: string
  readonly timeoutMs?: number
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a command. Never throws. */
export function runCommand(
  command: string,
  args: readonly string[],
  { cwd, timeoutMs = 300_000, env = {} }: CommandOptions,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let output = ''
    const timer = setTimeout(() => {
      output += `\n(stopped after ${timeoutMs / 1000} s)`
      child.kill('SIGKILL')
    }, timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk
      output += chunk
    })
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk
    })
    const end = (code: number | null) => {
      clearTimeout(timer)
      resolve({ code, stdout, output })
    }
    child.on('error', (error) => {
      output += String(error)
      end(null)
    })
    child.on('close', end)
  })
}

/** Runs a command and returns its standard output. Throws when it fails. */
export async function mustRun(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { code, output, stdout } = await runCommand(command, args, options)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed (${code}):\n${output}`)
  return stdout
}
