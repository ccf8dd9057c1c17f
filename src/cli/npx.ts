import { readFileSync } from 'node:fs'

const INTERVAL_MS = 500

/**
 * Whether npx (`npm exec`) started this command. A program that npx started, such as a test runner, passes the same variables
 * to its own processes, but with another script. npm puts quotes around the name.
 */
export const isStartedByNpx = ({
  npm_lifecycle_event: event,
  npm_lifecycle_script: script = '',
}: NodeJS.ProcessEnv): boolean => event === 'npx' && /^(['"]?)campaign-client\1(?:\s|$)/.test(script)

/**
 * Calls `onEnd` when npx has ended, even if it was killed. Works on Linux and macOS. Windows does not tell that a parent has
 * ended.
 *
 * @returns a function that stops watching
 */
export function watchNpx(onEnd: () => void): () => void {
  const isBehindShell = argumentsOf(process.ppid)[1] === '-c'
  // npx starts the command through `sh -c`. Some shells, such as dash, stay between the two.
  const parents = (): string => `${process.ppid} ${isBehindShell ? parentOf(process.ppid) : ''}`
  const before = parents()
  const timer = setInterval(() => {
    if (parents() !== before) onEnd()
  }, INTERVAL_MS)
  return () => clearInterval(timer)
}

const argumentsOf = (pid: number): readonly string[] => readProcess(pid, 'cmdline').split('\0')

const parentOf = (pid: number): string | undefined => /^PPid:\s*(\d+)/m.exec(readProcess(pid, 'status'))?.[1]

/** Reads from the proc file system of Linux. On macOS, `sh` is replaced by the command, so the parent is npx itself. */
function readProcess(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
