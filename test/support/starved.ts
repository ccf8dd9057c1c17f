/**
 * Runs Vitest on a starved machine: `npm run test:starved -- test/call`. Arguments go to Vitest. Needs Linux.
 *
 * Each Node.js process that Vitest or a test starts runs for 20 to 60 ms and is then stopped for 120 ms, again and again.
 * A test with a real limit fails.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { pathTo } from '../../scripts/repository.ts'

const STOPPED_MS = 120
const RUNNING_MS = { min: 20, max: 60 }
const SEARCH_EVERY_MS = 100

/** Set for a process that its test stops: another SIGCONT would continue it. */
const UNSTARVED = 'CAMPAIGN_TEST_UNSTARVED=1'

const vitest: ChildProcess = spawn(
  process.execPath,
  // Types do not depend on time.
  [pathTo('node_modules/vitest/vitest.mjs'), 'run', '--typecheck=false', ...process.argv.slice(2)],
  { cwd: pathTo('.'), stdio: 'inherit' },
)
// Vitest ends first: a stopped process ignores its signals.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => vitest.kill())

const starving = new Set<number>()
const search = setInterval(() => {
  for (const pid of descendants(vitest.pid)) {
    if (!starving.has(pid) && isStarvable(pid)) void starve(pid)
  }
}, SEARCH_EVERY_MS)
vitest.once('exit', (code) => {
  clearInterval(search)
  process.exitCode = code ?? 1
})

/** Stops and continues a process until it ends. */
async function starve(pid: number): Promise<void> {
  starving.add(pid)
  try {
    for (;;) {
      await wait(randomInt(RUNNING_MS.min, RUNNING_MS.max + 1))
      process.kill(pid, 'SIGSTOP')
      await wait(STOPPED_MS)
      process.kill(pid, 'SIGCONT')
    }
  } catch {
    // The process has ended.
    starving.delete(pid)
  }
}

/** Returns the processes that a process and its descendants started. */
function descendants(root: number | undefined): number[] {
  const processes = readdirSync('/proc')
    .map(Number)
    .filter((name) => name > 0)
    .map((pid) => ({ pid, parent: parentOf(pid) }))
  const found = new Set([root])
  // Children may be listed before their parents.
  for (let before = 0; found.size > before; ) {
    before = found.size
    for (const { pid, parent } of processes) if (found.has(parent)) found.add(pid)
  }
  return [...found].filter((pid) => pid !== undefined && pid !== root) as number[]
}

function parentOf(pid: number): number {
  const status = readProcess(() => readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(/^PPid:\s*(\d+)$/m.exec(status ?? '')?.[1])
}

/** Returns whether a process runs Node.js, and its test does not stop it. */
function isStarvable(pid: number): boolean {
  if (readProcess(() => readlinkSync(`/proc/${pid}/exe`)) !== process.execPath) return false
  return !readProcess(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))
    ?.split('\0')
    .includes(UNSTARVED)
}

/** Returns `undefined` if the process has ended. */
function readProcess(read: () => string): string | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
