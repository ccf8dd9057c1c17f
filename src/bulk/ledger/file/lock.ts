import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, lstat, open, readFile, rename, unlink } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { isRecord } from '../../../shared/types.ts'
import { livenessOf, type ProcessIdentity, thisProcess } from './process-identity.ts'
import { isMissing } from './storage.ts'

/** Another run holds the ledger. */
export class LockedLedger extends Error {}

/** The right to write to a ledger, until it is given back or taken by somebody to whom we seemed dead. */
export interface Lock {
  /** @throws LockedLedger when somebody else has taken it */
  check(): void
  release(): Promise<void>
}

/** How often a holder shows that it lives, and how long it may seem dead to one that can't see its process. */
export interface LockTimes {
  readonly beatMs: number
  readonly patienceMs: number
}

const TIMES: LockTimes = { beatMs: 2_000, patienceMs: 12_000 }
/** Crashes in the middle of taking over a lock, one after the other, before somebody has to look. */
const DEEPEST = 4

interface Holder extends ProcessIdentity {
  readonly nonce: string
  readonly since: string
}

/**
 * Takes the lock at the path, also from a holder that is gone. A holder whose process can be seen is judged by it at once:
 * by boot, number and start, so that neither a number that was given out again nor a clock can deceive. Of any other, in
 * another container or on another machine, the sign of life is watched: it touches its lock every two seconds.
 *
 * @throws LockedLedger when the holder lives
 */
export async function takeLock(path: string, times: LockTimes = TIMES): Promise<Lock> {
  const own: Holder = {
    ...(await thisProcess()),
    nonce: randomBytes(8).toString('hex'),
    since: new Date().toISOString(),
  }
  return take(path, own, times, DEEPEST)
}

async function take(path: string, own: Holder, times: LockTimes, deepest: number): Promise<Lock> {
  for (;;) {
    const made = await create(path, own)
    if (made !== undefined) return hold(path, made, times)
    const found = await look(path)
    if (found === undefined) continue
    const liveness = await watch(path, found, times)
    if (liveness === 'released') continue
    if (liveness === 'alive') throw new LockedLedger(describe(found))
    if (deepest === 0) {
      throw new LockedLedger(`${describe(found)}. It seems to be gone; delete ${path}* when it certainly is`)
    }
    // One at a time may take over from this very holder: whoever has the lock that is named after it. With that in hand,
    // the lock is still the one that was judged, or somebody else was faster.
    const successor = await take(`${path}.${found.key}`, own, times, deepest - 1)
    try {
      if ((await look(path))?.key !== found.key) continue
      const unfinished = `${path}.${own.nonce}`
      const handle = await create(unfinished, own)
      if (handle === undefined) throw new LockedLedger(`${unfinished} is in the way`)
      await rename(unfinished, path)
      return hold(path, handle, times)
    } finally {
      await successor.release()
    }
  }
}

/** A lock as it stands there. */
interface Found {
  /** Tells this lock from every other one. */
  readonly key: string
  readonly touched: bigint
  /** Undefined when its writer died on the way, or is just writing. */
  readonly holder: Holder | undefined
}

/** @throws Error when it is no lock of anybody's making: a link that leads nowhere would never be free, a pipe never read */
async function look(path: string): Promise<Found | undefined> {
  try {
    const stats = await lstat(path, { bigint: true })
    if (!stats.isFile()) throw new Error(`its lock, ${path}, is not a regular file`)
    const { mtimeNs, ino } = stats
    const text = await readFile(path, 'utf8')
    const holder = readHolder(text)
    return { key: holder?.nonce ?? `${ino}`, touched: mtimeNs, holder }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function watch(path: string, found: Found, times: LockTimes): Promise<'alive' | 'gone' | 'released'> {
  if (found.holder !== undefined) {
    const liveness = await livenessOf(found.holder)
    if (liveness !== 'unknown') return liveness
  }
  // Our own clock alone measures the time; theirs only has to move.
  const until = performance.now() + times.patienceMs
  while (performance.now() < until) {
    await wait(Math.min(times.beatMs / 4, times.patienceMs / 4))
    const now = await look(path)
    if (now === undefined) return 'released'
    if (now.key !== found.key || now.touched !== found.touched) return 'alive'
  }
  return 'gone'
}

async function create(path: string, own: Holder): Promise<FileHandle | undefined> {
  let handle: FileHandle
  try {
    handle = await open(path, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
  try {
    await handle.write(`${JSON.stringify(own)}\n`)
    return handle
  } catch (error) {
    await handle.close()
    await unlink(path).catch(() => undefined)
    throw error
  }
}

async function hold(path: string, handle: FileHandle, { beatMs }: LockTimes): Promise<Lock> {
  const { ino, dev } = await handle.stat({ bigint: true })
  const beat = setInterval(() => {
    const now = new Date()
    // A beat that fails only makes us seem dead, and then the check before the next group fails.
    handle.utimes(now, now).catch(() => undefined)
  }, beatMs)
  beat.unref()
  let released = false

  // While the file is open, no other one gets its number.
  const isOurs = (): boolean => {
    // At once: an answer that comes later may be out of date, in a process that has slept until then.
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    return found !== undefined && found.ino === ino && found.dev === dev
  }
  return {
    check() {
      if (!isOurs()) throw new LockedLedger('another run has taken it over, since this one seemed to be gone')
    },
    async release() {
      if (released) return
      released = true
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
    const isHolder = isRecord(found) && typeof found.nonce === 'string' && /^[0-9a-f]{16}$/.test(found.nonce)
    return isHolder ? (found as unknown as Holder) : undefined
  } catch {
    return undefined
  }
}

function describe({ holder }: Found): string {
  if (holder === undefined) return 'another run is just beginning to use it'
  const where = `process ${holder.pid} on ${holder.host}, since ${holder.since}`
  return `another run is using it: ${where}`
}
