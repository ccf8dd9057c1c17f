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
  const timer = setInterval(() => {
    if (parents() !== parentsAtStart) onEnd()
  }, INTERVAL_MS)
  return () => clearInterval(timer)
}

function argumentsOf(pid: number): readonly string[] {
  return readProcess(pid, 'cmdline').split('\0')
}

function parentOf(pid: number): string | undefined {
  return /^PPid:\s*(\d+)/m.exec(readProcess(pid, 'status'))?.[1]
}

// npx starts the command through `sh -c`. Some shells, such as dash, stay between the two.
const isBehindShell = argumentsOf(process.ppid)[1] === '-c'
const parents = (): string => `${process.ppid} ${isBehindShell ? parentOf(process.ppid) : ''}`
/** Read when the command starts: npx may end before the service listens. */
const parentsAtStart = parents()

/** Reads from the proc file system of Linux. On macOS, `sh` is replaced by the command, so the parent is npx itself. */
function readProcess(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
