import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, lstat, open, readFile, rename, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { tryParseJson } from '../../../shared/text/json.ts'
import { isRecord } from '../../../shared/type-checks.ts'
import { isMissing, removeIfThere } from './storage.ts'

/** Another run holds the lock. */
export class LockedLedger extends Error {}

/** The exclusive right to write to a ledger, until it is released or taken over. */
export interface Lock {
  /** Whether it was taken over from another run. That run may still be alive, and write. */
  readonly isTakenOver: boolean
  /** @throws LockedLedger when another run has taken it over */
  check(): void
  release(): Promise<void>
}

export interface LockTimes {
  /** How often the holder updates its lock file. */
  readonly heartbeatMs: number
  /** The time without an update after which another run takes over the lock file. */
  readonly watchMs: number
  /** The wait after a takeover. The lock is then checked, because another run may have taken it over at the same time. */
  readonly takeoverMs: number
}

const TIMES: LockTimes = { heartbeatMs: 1_000, watchMs: 15_000, takeoverMs: 250 }

/** Why a run waits for the lock file of another run, and how long. */
export interface LedgerWait {
  /** The reason as text, without a full stop. */
  readonly reason: string
  /** The maximum wait, in milliseconds. */
  readonly maxMs: number
}

interface Holder {
  readonly host: string
  readonly pid: number
  readonly since: string
}

/**
 * Creates the lock file at the path. Takes over a lock file whose process ran on this host and no longer exists, or that
 * had no heartbeat (a new time stamp) for `watchMs`.
 *
 * A process without a heartbeat may still be alive. The takeover is safe: that process checks the lock before it writes or
 * sends.
 *
 * @param onWait - called once if the lock file has no heartbeat
 * @throws LockedLedger when the holder is alive
 */
export async function takeLock(
  path: string,
  times: LockTimes = TIMES,
  onWait: (wait: LedgerWait) => void = () => undefined,
): Promise<Lock> {
  for (let isTakenOver = false; ; ) {
    const handle = await create(path)
    if (handle === undefined) {
      const existing = await read(path)
      if (existing === undefined || !(await isAbandoned(path, existing, times, onWait))) continue
      await rename(path, oldPathOf(path)).catch(ignoreMissing)
      isTakenOver = true
      continue
    }
    const lock = await hold(path, handle, times, isTakenOver)
    try {
      if (isTakenOver) await wait(times.takeoverMs)
      lock.check()
      await removeIfThere(oldPathOf(path))
      return lock
    } catch (error) {
      await lock.release()
      throw error
    }
  }
}

/** An abandoned lock file is renamed to this path. The next holder removes it. */
const oldPathOf = (path: string): string => `${path}.old`

interface LockFile {
  readonly content: string
  readonly mtimeNs: bigint
}

/** @throws Error when the path is not a regular file: reading a pipe would never end */
async function read(path: string): Promise<LockFile | undefined> {
  try {
    const stats = await lstat(path, { bigint: true })
    if (!stats.isFile()) throw new Error(`its lock file, ${path}, is not a regular file`)
    return { content: await readFile(path, 'utf8'), mtimeNs: stats.mtimeNs }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Watches a lock file. @returns false when the file was removed. @throws LockedLedger when the holder is alive */
async function isAbandoned(
  path: string,
  existing: LockFile,
  { heartbeatMs, watchMs }: LockTimes,
  onWait: (wait: LedgerWait) => void,
): Promise<boolean> {
  const holder = readHolder(existing.content)
  if (holder !== undefined && hasEnded(holder)) return true
  const reason =
    holder === undefined
      ? 'another run is starting to use it'
      : `another run is using it: process ${holder.pid} on ${holder.host}, since ${holder.since}`
  // Any change of the time stamp is a heartbeat: the clocks of other machines may differ.
  const start = performance.now()
  let isReported = false
  for (let elapsed = 0; elapsed < watchMs; elapsed = performance.now() - start) {
    if (!isReported && elapsed > 2 * heartbeatMs) {
      isReported = true
      onWait({ reason: `${reason}. Its lock file has no heartbeat`, maxMs: Math.ceil(watchMs - elapsed) })
    }
    await wait(heartbeatMs / 4)
    const now = await read(path)
    if (now === undefined) return false
    if (now.content !== existing.content || now.mtimeNs !== existing.mtimeNs) throw new LockedLedger(reason)
  }
  return true
}

/**
 * Whether the holder ran on this host and no longer exists. A process in another container with the same host name counts
 * as ended.
 */
function hasEnded({ host, pid }: Holder): boolean {
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

async function hold(path: string, handle: FileHandle, { heartbeatMs }: LockTimes, isTakenOver: boolean): Promise<Lock> {
  const { ino, dev } = await handle.stat({ bigint: true })
  const heartbeat = setInterval(() => {
    const now = new Date()
    // If the heartbeats fail, another run may take over the lock. The next `check` then throws.
    handle.utimes(now, now).catch(() => undefined)
  }, heartbeatMs)
  heartbeat.unref()

  // While the file is open, no other file gets its inode. The check is synchronous, so that the caller can act on the
  // result before any other code runs.
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
      clearInterval(heartbeat)
      try {
        if (isOurs()) await unlink(path)
      } finally {
        await handle.close()
      }
    },
  }
}

function readHolder(text: string): Holder | undefined {
  const found = tryParseJson(text)
  return isRecord(found) && typeof found.host === 'string' && Number.isSafeInteger(found.pid) && Number(found.pid) > 0
    ? (found as unknown as Holder)
    : undefined
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}
