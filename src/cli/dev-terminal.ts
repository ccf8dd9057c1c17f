import { execFileSync, type StdioOptions, spawn } from 'node:child_process'

/** The program that opens a URL, by platform. */
const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer.exe' }

/** Opens a URL in the default browser. Calls `onFailure` with the program that could not be started. */
export function openBrowser(url: string, onFailure: (program: string) => void): void {
  const program = OPENERS[process.platform] ?? 'xdg-open'
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => onFailure(program))
  child.unref()
}

/** What the keys do while `dev` runs. */
interface KeyActions {
  readonly open: () => void
  readonly clear: () => void
  readonly quit: () => void
}

const CTRL_C = '\x03'
const CTRL_Z = '\x1a'

/**
 * Reads single keys from the terminal. Call it if {@link hasKeys} returns true. The terminal then no longer sends the signals
 * of Ctrl-C and Ctrl-Z, so this function sends them. After Ctrl-Z it reads again only in the foreground: in the background,
 * reading would stop the command.
 *
 * @returns a function that stops reading and gives the terminal back
 */
export function readKeys({ open, clear, quit }: KeyActions): () => void {
  const { stdin } = process
  const read = (): void => {
    stdin.setRawMode(true)
    stdin.resume()
  }
  const onContinue = (): void => {
    if (isInForeground()) read()
  }
  const release = (): void => {
    stdin.setRawMode(false)
    stdin.pause()
  }
  const onKeys = (keys: string): void => {
    for (const key of keys) {
      if (key === 'o') open()
      else if (key === 'c') clear()
      else if (key === 'q') quit()
      else if (key === CTRL_C) signal('SIGINT')
      else if (key === CTRL_Z && process.platform !== 'win32') {
        release()
        signal('SIGTSTP')
      }
    }
  }
  stdin.setEncoding('utf8').on('data', onKeys)
  if (process.platform !== 'win32') process.on('SIGCONT', onContinue)
  read()
  return () => {
    process.off('SIGCONT', onContinue)
    stdin.off('data', onKeys)
    release()
  }
}

/** Sends a signal to all processes of the command line, as the terminal does. Windows has no process groups. */
function signal(name: 'SIGINT' | 'SIGTSTP'): void {
  if (process.platform === 'win32') process.emit(name, name)
  else process.kill(0, name)
}

/** Whether standard input is a terminal, and the command is in its foreground. It is not after `dev &`. */
export const hasKeys = (): boolean => process.stdin.isTTY === true && isInForeground()

function isInForeground(): boolean {
  if (process.platform === 'win32') return true
  try {
    // Standard error is ignored: the `ps` of BusyBox has no `-p` and prints an error. `+` means the foreground.
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore']
    return execFileSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8', stdio }).includes('+')
  } catch {
    // Without such a `ps` there is no way to know.
    return false
  }
}
