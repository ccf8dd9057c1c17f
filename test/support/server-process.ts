import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'

/** Returns the folders of the PATH and Debian's folders for server programs. */
function programFolders(): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter)
  folders.push('/usr/bin', '/usr/sbin')
  try {
    const versions = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))
    folders.push(...versions.map((version) => join('/usr/lib/postgresql', version, 'bin')))
  } catch {
    // Debian's PostgreSQL is not installed.
  }
  return folders
}

/** Returns the absolute path of a program; `undefined` if it is not installed. */
export function findProgram(name: string): string | undefined {
  return programFolders()
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** Returns a free TCP port on loopback. Rejects if `port` is given and in use. */
export async function freePort(port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address()
      const given = typeof address === 'object' && address !== null ? address.port : 0
      probe.close(() => resolve(given))
    })
  })
}

/** Returns the uid and gid of a system user; `undefined` if it does not exist. */
export function systemUser(name: string): { uid: number; gid: number } | undefined {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

/** A server started by a test. */
export interface ServerProcess {
  readonly pid: number
  /** Sends the signal and resolves when the process has ended. */
  stop(signal: NodeJS.Signals): Promise<void>
}

/** The running servers, which are killed when this process exits. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/**
 * Starts a server and waits until its output matches `ready`.
 *
 * @throws Error with the output when the program ends, or is not ready within 30 s
 */
export async function startServer(
  program: string,
  args: readonly string[],
  ready: RegExp,
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> = {},
): Promise<ServerProcess> {
  const { command, commandArgs, user } = withParentDeathSignal(program, args, options)
  const child = spawn(command, commandArgs, { cwd: options.cwd, ...user, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      running.delete(child)
      resolve()
    })
    child.once('error', () => {
      running.delete(child)
      resolve()
    })
  })
  let output = ''
  const started = new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      output += chunk.toString()
      if (ready.test(output)) resolve()
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    child.once('error', reject)
    void ended.then(() => reject(new Error(`${program} ended before it was ready:\n${output}`)))
    setTimeout(() => reject(new Error(`${program} was not ready within 2 min:\n${output}`)), 120_000).unref()
  })
  try {
    await started
  } catch (error) {
    child.kill('SIGKILL')
    await ended
    throw error
  }
  return {
    pid: child.pid as number,
    stop: async (signal) => {
      child.kill(signal)
      await ended
    },
  }
}

/** Adds the kernel's parent-death signal, because `exit` listeners do not run when the test process is killed. */
function withParentDeathSignal(
  program: string,
  args: readonly string[],
  { uid, gid }: Pick<SpawnOptions, 'uid' | 'gid'>,
) {
  const setpriv = findProgram('setpriv')
  if (setpriv === undefined) {
    return {
      command: program,
      commandArgs: [...args],
      user: { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) },
    }
  }
  // A change of the user clears the signal, so setpriv must do both.
  const identity = uid === undefined ? [] : [`--reuid=${uid}`, `--regid=${gid ?? uid}`, '--clear-groups']
  return { command: setpriv, commandArgs: [...identity, '--pdeathsig=KILL', '--', program, ...args], user: {} }
}
