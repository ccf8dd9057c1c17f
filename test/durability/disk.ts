import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSync, type Syscall } from './strace.ts'

/** The bytes of a file, and what was written since its last `fsync`. */
class DiskFile {
  #synced: Buffer = Buffer.alloc(0)
  #unsynced: Readonly<{ offset: number; data: Buffer } | { length: number }>[] = []

  write(offset: number, data: Buffer): void {
    this.#unsynced.push({ offset, data })
  }

  truncate(length: number): void {
    this.#unsynced.push({ length })
  }

  sync(): void {
    this.#synced = this.contents(this.unsyncedBytes)
    this.#unsynced = []
  }

  get unsyncedBytes(): number {
    return this.#unsynced.reduce((sum, change) => sum + ('data' in change ? change.data.length : 0), 0)
  }

  /** Returns the synced bytes, with the first `surviving` bytes of those written since. */
  contents(surviving: number): Buffer {
    let bytes = this.#synced
    for (const change of this.#unsynced) {
      if (surviving <= 0) break
      if ('length' in change) {
        bytes = resized(bytes, change.length)
        continue
      }
      const data = change.data.subarray(0, surviving)
      surviving -= data.length
      bytes = resized(bytes, Math.max(bytes.length, change.offset + data.length))
      data.copy(bytes, change.offset)
    }
    return bytes
  }
}

/** Returns a copy with this length, filled up with zeros. */
function resized(bytes: Buffer, length: number): Buffer {
  const copy = Buffer.alloc(length)
  bytes.copy(copy)
  return copy
}

/**
 * A folder as a power failure would leave it, known from the syscalls of the program that writes there. A write is lost until an
 * `fsync` or `fdatasync` of its file. A new file is lost until an `fsync` of its folder.
 */
export class Disk {
  readonly #folder: string
  readonly #files = new Map<string, DiskFile>()
  #syncedFiles = new Map<string, DiskFile>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Applies a syscall. Ignores other folders, and syscalls that failed. */
  apply({ name, path, data, numbers, result }: Syscall): void {
    if (result < 0) return
    if (path === this.#folder && isSync(name)) this.#syncedFiles = new Map(this.#files)
    if (dirname(path) !== this.#folder) return
    const key = basename(path)
    if (name === 'openat') this.#files.set(key, this.#files.get(key) ?? new DiskFile())
    else if (name === 'pwrite64') this.#file(key).write(numbers.at(-1) as number, data.subarray(0, result))
    else if (name === 'ftruncate') this.#file(key).truncate(numbers.at(-1) as number)
    else if (isSync(name)) this.#file(key).sync()
    else if (name.startsWith('unlink')) this.#files.delete(key)
    else throw new Error(`${name} of ${key} is unknown to this test`)
  }

  unsyncedBytes(path: string): number {
    return this.#file(basename(path)).unsyncedBytes
  }

  /**
   * Writes the files into another folder, as after a power failure.
   *
   * @param surviving - how many unsynced bytes of each file are on the disk nevertheless
   */
  copyTo(folder: string, surviving = 0): void {
    for (const [key, file] of this.#syncedFiles) writeFileSync(join(folder, key), file.contents(surviving))
  }

  #file(key: string): DiskFile {
    const file = this.#files.get(key)
    if (file === undefined) throw new Error(`${key} was never opened`)
    return file
  }
}
