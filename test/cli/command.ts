import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { build } from 'tsup'
import { onTestFinished, vi } from 'vitest'
import { command } from '../../scripts/entry-points.ts'
import { pathTo } from '../../scripts/repository.ts'
import type { Host } from '../../src/cli/output.ts'
import { run as runCommand } from '../../src/cli/run.ts'
import { consolePage, esModules } from '../../tsup.config.ts'
import { socketsRead } from '../support/connections-closed.ts'

/** The result of a command. Everything that the command sent to services of this process has arrived. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** The environment variables of the command. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The width of the terminal that standard output and error report. */
  readonly columns?: number
  /** The content of standard input. */
  readonly input?: string | Uint8Array
}

export interface ProcessOptions extends RunOptions {
  /** Environment variables. The command also has PATH. */
  readonly env?: Readonly<Record<string, string>>
  /** A program and its arguments. The command line is appended to them. */
  readonly within?: readonly string[]
  /** Keeps standard input open for writing. */
  readonly keepsInput?: boolean
}

/** A running command. */
export interface Running {
  /** Its output so far. */
  readonly output: { stdout: string; stderr: string }
  readonly ended: Promise<Ended>
  /** Resolves with the first match in its output. Rejects when the command ends without one. */
  until(stream: 'stdout' | 'stderr', words: RegExp): Promise<RegExpExecArray>
  /** Sends a signal. */
  kill(signal: NodeJS.Signals): void
}

/** A command in a process of its own. */
export interface RunningProcess extends Running {
  readonly child: ChildProcess
}

/** The working directory of this process, which a run changes. Runs at the same time need the same one. */
const folder = { runs: 0, before: '', current: '' }

function enterFolder(path: string): void {
  if (folder.runs === 0) {
    folder.before = process.cwd()
    folder.current = path
    process.chdir(path)
  } else if (folder.current !== path) throw new Error(`a run in ${folder.current} has not ended: start a process`)
  folder.runs++
}

function leaveFolder(): void {
  if (--folder.runs === 0) process.chdir(folder.before)
}

/** Replaces the process of a command: its environment, streams and signals. */
class TestHost extends EventEmitter {
  readonly pid = process.pid
  readonly env: NodeJS.ProcessEnv
  readonly output = { stdout: '', stderr: '' }
  readonly stdout = this.#streamTo('stdout')
  readonly stderr = this.#streamTo('stderr')
  /** The signal by which the command ended itself. */
  endedBy: NodeJS.Signals | null = null

  constructor(env: NodeJS.ProcessEnv, columns: number | undefined) {
    super()
    this.env = env
    for (const stream of [this.stdout, this.stderr]) Object.assign(stream, { columns })
  }

  kill(_pid: number, signal: NodeJS.Signals): void {
    this.endedBy = signal
  }

  #streamTo(name: 'stdout' | 'stderr'): NodeJS.WriteStream {
    return new Writable({
      decodeStrings: false,
      write: (text: string, _, done) => {
        this.output[name] += text
        this.emit('output')
        done()
      },
    }) as unknown as NodeJS.WriteStream
  }
}

/**
 * Starts the command in this process, which is much faster than a process for each run. It has no terminal. A signal that it
 * does not handle has no effect.
 */
export function start(args: readonly string[], { env = {}, cwd = tmpdir(), input, columns }: RunOptions = {}): Running {
  enterFolder(cwd)
  const host = new TestHost(env, columns)
  const stdin = input === undefined ? undefined : vi.spyOn(process, 'stdin', 'get')
  stdin?.mockReturnValue(Readable.from([Buffer.from(input ?? '')]) as never)
  const { output } = host
  const ended = runCommand(args, host as unknown as Host)
    .finally(() => {
      stdin?.mockRestore()
      leaveFolder()
    })
    .then(async (code): Promise<Ended> => {
      await socketsRead()
      return { code: host.endedBy === null ? code : null, signal: host.endedBy, ...output }
    })
  const kill = (signal: NodeJS.Signals) => void host.emit(signal, signal)
  onTestFinished(async () => {
    // The second signal ends a run that waits for responses.
    for (let signals = 0; signals < 3; signals++) kill('SIGTERM')
    await ended.catch(() => undefined)
  })
  return {
    output,
    ended,
    until: (stream, words) => outputMatch(output, stream, words, (look) => void host.on('output', look), ended),
    kill,
  }
}

/** Runs the command in this process to its end. */
export const run = (args: readonly string[], options?: RunOptions): Promise<Ended> => start(args, options).ended

/** Resolves with the first match in the output of a command. */
function outputMatch(
  output: Running['output'],
  stream: 'stdout' | 'stderr',
  words: RegExp,
  onOutput: (look: () => void) => void,
  ended: Promise<Ended>,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const match = words.exec(output[stream])
      if (match) resolve(match)
    }
    onOutput(look)
    look()
    void ended.then((end) =>
      reject(new Error(`the command ended with ${end.code} before it printed ${words}: ${end.stderr}`)),
    )
  })
}

let built: Promise<string> | undefined

/** Starts the command in a process, built from the current source. */
export async function startProcess(args: readonly string[], options: ProcessOptions = {}): Promise<RunningProcess> {
  built ??= buildCommand()
  const { within = [] } = options
  return launch([...within, process.execPath, join(await built, 'cli/main.js'), ...args], options)
}

/**
 * Starts the command at a new terminal. `stdout` is its whole output. `child.stdin` is its keyboard: `\x03` is Ctrl-C. After
 * a signal, the exit code is 128 plus the number of the signal, as in a shell.
 */
export async function startAtTerminal(args: readonly string[], options: ProcessOptions = {}): Promise<RunningProcess> {
  return startProcess(args, {
    ...options,
    within: ['python3', '-c', TERMINAL, ...(options.within ?? [])],
    keepsInput: true,
  })
}

/** Whether this machine can open terminals. */
export const hasTerminals = spawnSync('python3', ['-c', 'import pty']).status === 0

const TERMINAL = `
import os, pty, sys
code = os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:]))
sys.exit(128 - code if code < 0 else code)
`

function launch(
  [program = '', ...args]: readonly string[],
  { env = {}, input, cwd, keepsInput }: ProcessOptions,
): RunningProcess {
  const child = spawn(program, args, {
    cwd: cwd ?? tmpdir(),
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text
    })
  }
  // Writing fails when the command ends without reading its input.
  child.stdin.on('error', () => {})
  if (!keepsInput) child.stdin.end(input)
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      void socketsRead().then(() => resolve({ code, signal, ...output }))
    })
  })
  return {
    child,
    output,
    ended,
    until: (stream, words) => outputMatch(output, stream, words, (look) => void child[stream].on('data', look), ended),
    kill: (signal) => void child.kill(signal),
  }
}

/** Runs the command in a process to its end. */
export const runProcess = async (args: readonly string[], options?: ProcessOptions): Promise<Ended> =>
  (await startProcess(args, options)).ended

/** Parses the last line of standard output: the result with `--json`. */
export const jsonOf = ({ stdout }: Ended): Record<string, unknown> & { version: unknown } =>
  JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')

/** Creates a folder that is removed after the test. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'campaign-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Builds the command, unless a build of the same sources exists. */
async function buildCommand(): Promise<string> {
  const folder = pathTo(`reports/command/${sourcesHash()}`)
  if (existsSync(folder)) return folder
  mkdirSync(pathTo('reports/command'), { recursive: true })
  const draft = mkdtempSync(pathTo('reports/command/draft-'))
  const quiet = { config: false, silent: true } as const
  await build({ ...consolePage, ...quiet, outDir: join(draft, 'console') })
  // There is no package.json beside it, so `#crypto` and `#node-transport` are bundled.
  await build({ ...esModules, ...quiet, entry: { 'cli/main': command.source }, external: ['kerberos'], outDir: draft })
  try {
    renameSync(draft, folder)
  } catch (error) {
    // Another test file built it at the same time.
    if (!existsSync(folder)) throw error
    rmSync(draft, { recursive: true, force: true })
  }
  return folder
}

function sourcesHash(): string {
  const hash = createHash('sha256')
  const sources = readdirSync(pathTo('src'), { recursive: true, encoding: 'utf8' }).map((file) => `src/${file}`)
  const files = [...sources.filter((file) => /\.\w+$/.test(file)), 'tsup.config.ts', 'package-lock.json']
  for (const file of files.sort()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(pathTo(file)))
      .update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}
