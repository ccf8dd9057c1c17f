import { constants, renameSync } from 'node:fs'
import { copyFile, type FileHandle, lstat, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigurationError } from '../../../errors.ts'

/** The storage of ledgers. Tests replace it to simulate a power cut. */
export interface LedgerStorage {
  /** Opens the file; `undefined` if it does not exist. */
  open(path: string, access: 'read' | 'write'): Promise<LedgerFile | undefined>
  /** Creates the file with this content, atomically and flushed. */
  create(path: string, content: Uint8Array): Promise<void>
  /**
   * Replaces the file, if it exists, with a flushed copy. A process that has the old file open then writes to a file that
   * nobody reads.
   *
   * @param checkLock - called right before the replacement. If it throws, the file is not replaced
   */
  replaceByCopy(path: string, checkLock: () => void): Promise<void>
}

/** An open ledger. */
export interface LedgerFile {
  /** Fills the buffer with the bytes at the position. Resolves to the number of bytes; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** Writes all of the bytes, or rejects. */
  write(bytes: Uint8Array, position: number): Promise<void>
  /** Resolves when all writes survive a power cut. */
  flush(): Promise<void>
  /** @throws ConfigurationError when another file is at the path, or the file has another size */
  check(size: number): Promise<void>
  /** Truncates the file at the position, and flushes. */
  truncate(position: number): Promise<void>
  close(): Promise<void>
}

/** Without O_APPEND, a write could overwrite lines of another program, and `check` would still find the expected size. */
const APPENDING = constants.O_RDWR | constants.O_APPEND
const CREATING = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
/** Only the owner may read the addresses. */
const MODE = 0o600
/** Windows does not have this flag. */
const NO_SYMLINK = constants.O_NOFOLLOW ?? 0

/** A new file is written here and then renamed, so that an incomplete file never has the name of a ledger. */
const temporaryPathOf = (path: string): string => `${path}.new`

export const fileStorage: LedgerStorage = {
  async open(path, access) {
    await refuseUnsafeFile(path)
    // A killed process may have left its temporary file.
    if (access === 'write') await removeIfThere(temporaryPathOf(path))
    let handle: FileHandle
    try {
      handle = await open(path, (access === 'read' ? constants.O_RDONLY : APPENDING) | NO_SYMLINK)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
    try {
      if (access === 'write' && ((await handle.stat()).mode & 0o077) !== 0) await handle.chmod(MODE)
    } catch (error) {
      await handle.close()
      throw error
    }
    return openFile(handle, path)
  },

  async create(path, content) {
    const temporary = temporaryPathOf(path)
    await removeIfThere(temporary)
    const handle = await open(temporary, CREATING | NO_SYMLINK, MODE)
    try {
      const file = openFile(handle, temporary)
      await file.write(content, 0)
      await handle.sync()
      await handle.close()
      await rename(temporary, path)
    } catch (error) {
      await handle.close().catch(() => undefined)
      await removeIfThere(temporary).catch(() => undefined)
      throw error
    }
    await flushFolder(dirname(path))
  },

  async replaceByCopy(path, checkLock) {
    await refuseUnsafeFile(path)
    const copy = temporaryPathOf(path)
    await removeIfThere(copy)
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    } catch (error) {
      if (isMissing(error)) return
      throw error
    }
    const handle = await open(copy, constants.O_RDWR | NO_SYMLINK)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    // Synchronous: during an await, another process could take over the lock.
    checkLock()
    renameSync(copy, path)
    await flushFolder(dirname(path))
  },
}

function openFile(handle: FileHandle, path: string): LedgerFile {
  const unusable = (reason: string) => new ConfigurationError(`The ledger ${path} can't be used: ${reason}`)
  return {
    async read(buffer, position) {
      return (await handle.read(buffer, 0, buffer.length, position)).bytesRead
    },
    async write(bytes, position) {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
        if (bytesWritten === 0) throw new Error('the file accepts no more bytes')
        done += bytesWritten
      }
    },
    flush: () => handle.datasync(),
    async check(size) {
      const [ours, atPath] = await Promise.all([handle.stat({ bigint: true }), stat(path, { bigint: true })])
      if (ours.ino !== atPath.ino || ours.dev !== atPath.dev) throw unusable('another file has replaced it')
      if (ours.size !== BigInt(size)) throw unusable('another program has changed it during the run')
    },
    async truncate(position) {
      await handle.truncate(position)
      await handle.sync()
    },
    close: () => handle.close(),
  }
}

/** A file with two hard links would have two lock files. */
async function refuseUnsafeFile(path: string): Promise<void> {
  try {
    const found = await lstat(path)
    if (found.isSymbolicLink()) throw new Error('it is a symbolic link; use the path of the file itself')
    if (!found.isFile()) throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file')
    if (found.nlink > 1) throw new Error(`it has ${found.nlink} hard links; remove all but one`)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** A new name survives a power cut only after its folder is flushed. Windows can't open folders. */
async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
