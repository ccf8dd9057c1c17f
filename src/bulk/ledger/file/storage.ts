import { constants, renameSync } from 'node:fs'
import { copyFile, type FileHandle, lstat, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigurationError } from '../../../errors.ts'

/** The storage of a ledger's bytes. Tests use one that loses unflushed writes. */
export interface LedgerStorage {
  /** Opens the file; undefined where there is none. */
  open(path: string, access: 'read' | 'write'): Promise<LedgerFile | undefined>
  /** Makes the file with this content, all of it flushed, or not at all. */
  create(path: string, content: Uint8Array): Promise<void>
  /**
   * Replaces the file, if there is one, by a flushed copy of itself. Whoever still has the old one open writes to a file
   * that nobody reads.
   *
   * @param checkLock - called right before the replacement; throws when it must not happen
   */
  replaceByCopy(path: string, checkLock: () => void): Promise<void>
}

/** An open ledger. */
export interface LedgerFile {
  /** Fills the buffer from the position on. Resolves to the number of bytes; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  /** Writes all of the bytes, or rejects. */
  write(bytes: Uint8Array, position: number): Promise<void>
  /** Resolves when all writes survive a power cut. */
  flush(): Promise<void>
  /** @throws ConfigurationError when another file is at its path, or it does not end at the position */
  check(end: number): Promise<void>
  /** Truncates the file at the position, and flushes. */
  truncate(position: number): Promise<void>
  close(): Promise<void>
}

/** With O_APPEND, a file that another program has cut or extended ends elsewhere than we expect. */
const APPENDING = constants.O_RDWR | constants.O_APPEND
const CREATING = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
/** Only its owner may read who was awarded. */
const MODE = 0o600
/** Windows has no such flag. */
const NO_SYMLINK = constants.O_NOFOLLOW ?? 0

/** A file is complete before it gets its name. Only the holder of the lock makes one. */
const unfinishedOf = (path: string): string => `${path}.new`

/** Ledgers in the file system. */
export const fileStorage: LedgerStorage = {
  async open(path, access) {
    await refuseOddFile(path)
    // A process that was killed may have left it.
    if (access === 'write') await removeIfThere(unfinishedOf(path))
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
    const unfinished = unfinishedOf(path)
    await removeIfThere(unfinished)
    const handle = await open(unfinished, CREATING | NO_SYMLINK, MODE)
    try {
      const file = openFile(handle, unfinished)
      await file.write(content, 0)
      await handle.sync()
      await handle.close()
      await rename(unfinished, path)
    } catch (error) {
      await handle.close().catch(() => undefined)
      await removeIfThere(unfinished).catch(() => undefined)
      throw error
    }
    await flushFolder(dirname(path))
  },

  async replaceByCopy(path, checkLock) {
    await refuseOddFile(path)
    const copy = unfinishedOf(path)
    await removeIfThere(copy)
    try {
      await copyFile(path, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    } catch (error) {
      if (isMissing(error)) return
      throw error
    }
    const handle = await open(copy, constants.O_RDWR | NO_SYMLINK)
    try {
      await handle.chmod(MODE)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // Synchronous: a process that was suspended in between must not put its old copy over a newer ledger.
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
        if (bytesWritten === 0) throw new Error('the file takes no more bytes')
        done += bytesWritten
      }
    },
    flush: () => handle.datasync(),
    async check(end) {
      const [ours, there] = await Promise.all([handle.stat({ bigint: true }), stat(path, { bigint: true })])
      if (ours.ino !== there.ino || ours.dev !== there.dev) throw unusable('another file was put in its place')
      if (ours.size !== BigInt(end)) throw unusable('somebody else has changed it while it was in use')
    },
    async truncate(position) {
      await handle.truncate(position)
      await handle.sync()
    },
    close: () => handle.close(),
  }
}

/** Two names of one file would be two locks; a symbolic link may lead anywhere, and a pipe keeps nothing. */
async function refuseOddFile(path: string): Promise<void> {
  try {
    const found = await lstat(path)
    if (found.isSymbolicLink()) throw new Error('it is a symbolic link; name the file itself')
    if (!found.isFile()) throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not a regular file')
    if (found.nlink > 1) throw new Error(`it has ${found.nlink} hard links; remove all but one`)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** A new name survives a power cut only once its folder is flushed. Windows can't open folders, and need not. */
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

export async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}
