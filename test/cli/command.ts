import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { build } from 'tsup'
import { onTestFinished } from 'vitest'
import { pathTo } from '../../scripts/repository.ts'
import { run as runCommand } from '../../src/cli/run.ts'
import { Semaphore } from '../../src/shared/semaphore.ts'
import { command, consolePage } from '../../tsup.config.ts'
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
  /** The width of the terminal that {@link run} reports. */
  readonly columns?: number
}

export interface ProcessOptions extends RunOptions {
  /** Environment variables. The command also has PATH. */
  readonly env?: Readonly<Record<string, string>>
  /** The content of standard input. */
  readonly input?: string | Uint8Array
  /** A program and its arguments. The command line is appended to them. */
  readonly within?: readonly string[]
  /** Keeps standard input open for writing. */
  readonly keepsInput?: boolean
}

/** A running command. */
export interface Running {
  readonly child: ChildProcess
  /** Its output so far. */
  readonly output: { stdout: string; stderr: string }
  readonly ended: Promise<Ended>
  /** Resolves with the first match in its output. Rejects when the command ends without one. */
  until(stream: 'stdout' | 'stderr', words: RegExp): Promise<RegExpExecArray>
}

/** A run changes the working directory of the process. */
const oneRun = new Semaphore(1)

/**
 * Runs the command in this process, which is much faster than a process for each run. It has no standard input and no
 * terminal. Runs wait for each other.
 */
export const run = (args: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  oneRun.run(() => runHere(args, options))

async function runHere(args: readonly string[], { env = {}, cwd = tmpdir(), columns }: RunOptions): Promise<Ended> {
  const output = { stdout: '', stderr: '' }
  const streamTo = (name: 'stdout' | 'stderr') =>
    Object.assign(
      new Writable({
        decodeStrings: false,
        write(text: string, _, done) {
          output[name] += text
          done()
        },
      }),
      { columns },
    ) as unknown as NodeJS.WriteStream
  const before = process.cwd()
  process.chdir(cwd)
  try {
    const code = await runCommand(args, { env, stdout: streamTo('stdout'), stderr: streamTo('stderr') })
    await socketsRead()
    return { code, signal: null, ...output }
  } finally {
    process.chdir(before)
  }
}

let built: Promise<string> | undefined

/** Starts the command in a process, built from the current source. */
export async function start(args: readonly string[], options: ProcessOptions = {}): Promise<Running> {
  built ??= buildCommand()
  const { within = [] } = options
  return launch([...within, process.execPath, join(await built, 'cli/main.js'), ...args], options)
}

/**
 * Starts the command at a new terminal. `stdout` is its whole output. `child.stdin` is its keyboard: `\x03` is Ctrl-C. After
 * a signal, the exit code is 128 plus the number of the signal, as in a shell.
 */
export async function startAtTerminal(args: readonly string[], options: ProcessOptions = {}): Promise<Running> {
  return start(args, { ...options, within: ['python3', '-c', TERMINAL, ...(options.within ?? [])], keepsInput: true })
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
): Running {
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
    until(stream, words) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const match = words.exec(output[stream])
          if (match) resolve(match)
        }
        child[stream].on('data', look)
        look()
        void ended.then((end) =>
          reject(new Error(`the command ended with ${end.code} before it printed ${words}: ${end.stderr}`)),
        )
      })
    },
  }
}

/** Runs the command in a process to its end. */
export const runProcess = async (args: readonly string[], options?: ProcessOptions): Promise<Ended> =>
  (await start(args, options)).ended

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
  // Bundle the source of the package, so that the tests need no build of the package.
  await build({ ...command, ...quiet, outDir: join(draft, 'cli'), external: ['msw', 'kerberos'], noExternal: ['zod'] })
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
