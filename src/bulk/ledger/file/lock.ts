import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, lstat, open, readFile, rename, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { isRecord } from '../../../shared/types.ts'
import { isMissing, removeIfThere } from './storage.ts'

/** Another run holds the lock file. */
export class LockedLedger extends Error {}

/** The exclusive right to write to a ledger, until it is released or taken over. */
export interface Lock {
  /** Whether it was taken from another run, which may still be alive and write. */
  readonly isTakenOver: boolean
  /** @throws LockedLedger when another run has taken it over */
  check(): void
  release(): Promise<void>
}

/** In milliseconds. */
export interface LockTimes {
  /** How often a holder touches its lock file. */
  readonly beatMs: number
  /** How long a lock file must stay untouched before it is taken over. */
  readonly watchMs: number
  /** How long the taker then waits for others that took it at the same moment. */
  readonly settleMs: number
}

const TIMES: LockTimes = { beatMs: 1_000, watchMs: 15_000, settleMs: 250 }

/** Why a run waits before it begins. */
export interface LedgerWait {
  /** In words, without a full stop. */
  readonly reason: string
  /** How long it waits at most, in milliseconds. */
  readonly maxMs: number
}

interface Holder {
  readonly host: string
  readonly pid: number
  readonly since: string
}

/**
 * Takes the lock file at the path. One that a process has left behind is taken over: at once where that process visibly does
 * not run on this host any more, otherwise when nobody has touched it for a while. A wrong guess costs nothing: the holder
 * checks its lock before it writes or sends.
 *
 * @param onWait - called once when a silent lock file has to be watched
 * @throws LockedLedger when its holder is alive
 */
export async function takeLock(
  path: string,
  times: LockTimes = TIMES,
  onWait: (wait: LedgerWait) => void = () => undefined,
): Promise<Lock> {
  for (;;) {
    const made = await create(path)
    if (made !== undefined) {
      await removeIfThere(abandonedOf(path))
      return hold(path, made, times, false)
    }
    const found = await look(path)
    if (found === undefined || !(await isAbandoned(path, found, times, onWait))) continue
    await rename(path, abandonedOf(path)).catch(ignoreMissing)
    const handle = await create(path)
    if (handle === undefined) continue
    const lock = await hold(path, handle, times, true)
    try {
      await wait(times.settleMs)
      lock.check()
      await removeIfThere(abandonedOf(path))
      return lock
    } catch (error) {
      await lock.release()
      throw error
    }
  }
}

/** Where an abandoned lock file is moved to. If its taker is killed before it removes the file, the next holder does. */
const abandonedOf = (path: string): string => `${path}.old`

/** A lock file as it is now. */
interface Found {
  readonly content: string
  readonly ino: bigint
  readonly touched: bigint
}

/** @throws Error when it is not a regular file: reading a pipe would never end */
async function look(path: string): Promise<Found | undefined> {
  try {
    const stats = await lstat(path, { bigint: true })
    if (!stats.isFile()) throw new Error(`its lock file, ${path}, is not a regular file`)
    return { content: await readFile(path, 'utf8'), ino: stats.ino, touched: stats.mtimeNs }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** @returns false when it was released meanwhile. @throws LockedLedger when its holder is alive */
async function isAbandoned(
  path: string,
  found: Found,
  { beatMs, watchMs }: LockTimes,
  onWait: (wait: LedgerWait) => void,
): Promise<boolean> {
  const holder = readHolder(found.content)
  if (holder !== undefined && isGone(holder)) return true
  const reason =
    holder === undefined
      ? 'another run is just beginning to use it'
      : `another run is using it: process ${holder.pid} on ${holder.host}, since ${holder.since}`
  // Measured by our own clock alone: the time stamp of the file only has to change.
  const begin = performance.now()
  let isTold = false
  for (let elapsed = 0; elapsed < watchMs; elapsed = performance.now() - begin) {
    if (!isTold && elapsed > 2 * beatMs) {
      isTold = true
      onWait({ reason: `${reason}. It shows no sign of life`, maxMs: Math.ceil(watchMs - elapsed) })
    }
    await wait(beatMs / 4)
    const now = await look(path)
    if (now === undefined) return false
    if (now.content !== found.content || now.ino !== found.ino || now.touched !== found.touched) {
      throw new LockedLedger(reason)
    }
  }
  return true
}

/** Whether the process visibly does not run on this host. A process of another container may look like that, too. */
function isGone({ host, pid }: Holder): boolean {
  if (host !== hostname()) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

async function create(path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle
  try {
    handle = await open(path, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  try {
    const holder: Holder = { host: hostname(), pid: process.pid, since: new Date().toISOString() }
    await handle.write(`${JSON.stringify({ ...holder, nonce: randomUUID() })}\n`)
    return handle
  } catch (error) {
    await handle.close()
    await unlink(path).catch(() => undefined)
    throw error
  }
}

async function hold(path: string, handle: FileHandle, { beatMs }: LockTimes, isTakenOver: boolean): Promise<Lock> {
  const { ino, dev } = await handle.stat({ bigint: true })
  const beat = setInterval(() => {
    const now = new Date()
    // When this fails, another run may take the lock over. The next check then throws.
    handle.utimes(now, now).catch(() => undefined)
  }, beatMs)
  beat.unref()

  // While the file is open, no other file gets its inode. Synchronous, so that the answer is not out of date.
  const isOurs = (): boolean => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found !== undefined && found.ino === ino && found.dev === dev
  }
  return {
    isTakenOver,
    check() {
      if (!isOurs()) throw new LockedLedger('another run has taken it over, or its lock file was removed')
    },
    async release() {
      clearInterval(beat)
      try {
        if (isOurs()) await unlink(path)
      } finally {
        await handle.close()
      }
    },
  }
}

function readHolder(text: string): Holder | undefined {
  try {
    const found: unknown = JSON.parse(text)
    return isRecord(found) && typeof found.host === 'string' && Number.isSafeInteger(found.pid) && Number(found.pid) > 0
      ? (found as unknown as Holder)
      : undefined
  } catch {
    return undefined
  }
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}
