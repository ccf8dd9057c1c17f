import { spawn } from 'node:child_process'

/** The program that opens a URL, by platform. */
const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer.exe' }

/** Opens a URL in the browser of the user. Calls `onFailure` with the program that could not be started. */
export function openBrowser(url: string, onFailure: (program: string) => void): void {
  const program = OPENERS[process.platform] ?? 'xdg-open'
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => onFailure(program))
  child.unref()
}
