import { constants } from 'node:fs'
import { type FileHandle, lstat, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The bytes of a ledger, and when they are safe. Tests put one in its place that loses what was not flushed. */
export interface LedgerStorage {
  /** Opens what is at the path; undefined where nothing is. */
  open(path: string, access: 'read' | 'write'): Promise<LedgerFile | undefined>
  /** Makes the file with this content, all of it durable, or not at all. */
  create(path: string, content: Uint8Array): Promise<void>
}

/** An open ledger. */
export interface LedgerFile {
  /** Fills the buffer from the position on. Resolves to how many bytes there were; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** Writes all of the bytes, or rejects. */
  write(bytes: Uint8Array, position: number): Promise<void>
  /** Resolves when what was written would survive a power cut. */
  flush(): Promise<void>
  /** @throws Error when it is not the file at its path any more, or does not end where it should */
  check(end: number): Promise<void>
  /** Cuts off what is behind the position, durably. */
  truncate(position: number): Promise<void>
  close(): Promise<void>
}

/** At the end, wherever that is: a file that somebody cut off or went on writing has another length than ours from then on. */
const APPENDING = constants.O_RDWR | constants.O_APPEND
/** Only its owner may read who got what. */
const RIGHTS = 0o600
/** Windows has no such flag, and 0 leaves the others as they are. */
const NO_SYMLINK = constants.O_NOFOLLOW ?? 0

/** Ledgers in the file system. */
export const fileStorage: LedgerStorage = {
  async open(path, access) {
    await refuseOddFile(path)
    let handle: FileHandle
    try {
      handle = await open(path, (access === 'read' ? constants.O_RDONLY : APPENDING) | NO_SYMLINK)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
    try {
      if (access === 'write' && ((await handle.stat()).mode & 0o077) !== 0) await handle.chmod(RIGHTS)
    } catch (error) {
      await handle.close()
      throw error
    }
    return openFile(handle, path)
  },

  async create(path, content) {
    // Under a name of its own until it is whole. The lock keeps others from the path meanwhile.
    const unfinished = `${path}.new`
    await unlink(unfinished).catch(ignoreMissing)
    const handle = await open(
      unfinished,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_SYMLINK,
      RIGHTS,
    )
    try {
      const file = openFile(handle, unfinished)
      await file.write(content, 0)
      await handle.sync()
      await handle.close()
      await rename(unfinished, path)
    } catch (error) {
      await handle.close().catch(() => undefined)
      await unlink(unfinished).catch(() => undefined)
      throw error
    }
    await flushFolder(dirname(path))
  },
}

function openFile(handle: FileHandle, path: string): LedgerFile {
  return {
    async read(buffer, position) {
      return (await handle.read(buffer, 0, buffer.length, position)).bytesRead
    },
    async write(bytes, position) {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
        if (bytesWritten === 0) throw new Error('the file takes no more bytes')
        done += bytesWritten
      }
    },
    flush: () => handle.datasync(),
    async check(end) {
      const [ours, there] = await Promise.all([handle.stat({ bigint: true }), stat(path, { bigint: true })])
      if (ours.ino !== there.ino || ours.dev !== there.dev)
        throw new Error(`another file was put in the place of ${path}`)
      if (ours.size !== BigInt(end)) throw new Error(`somebody else has changed ${path} while it was in use`)
    },
    async truncate(position) {
      await handle.truncate(position)
      await handle.sync()
    },
    close: () => handle.close(),
  }
}

/** A symbolic link may lead anywhere, a pipe or a device keeps nothing. */
async function refuseOddFile(path: string): Promise<void> {
  try {
    const found = await lstat(path)
    if (found.isSymbolicLink()) throw new Error('it is a symbolic link; name the file itself')
    if (!found.isFile()) throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** A new name is safe only when its folder is flushed. Windows can't open folders, and needs it not. */
async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}
