import { createHash } from 'node:crypto'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { usageFailure } from '../../exit.ts'
import { fileFailure, inputName, isSystemError } from '../../files.ts'

const BLOCK_BYTES = 1 << 18

/** A file that is read more than once, and must be the same each time: what was not checked is never handed on. */
export class ListFile {
  readonly name: string
  readonly #handle: FileHandle
  /** Of each block, from the first reading. */
  readonly #digests: string[] = []
  readonly #hash = createHash('sha256')
  #sha256: string | undefined

  private constructor(name: string, handle: FileHandle) {
    this.name = name
    this.#handle = handle
  }

  /** @throws CommandFailure when it can't be read, or not twice */
  static async open(name: string): Promise<ListFile> {
    if (name === '-') {
      throw usageFailure('a list must be a file: it is read twice, and standard input only once', 'save it to a file')
    }
    try {
      const before = await stat(name)
      // To open a pipe would wait for whoever writes to it.
      if (!before.isFile()) throw notReadableTwice(name, before.isDirectory())
      return new ListFile(name, await open(name, 'r'))
    } catch (error) {
      throw isSystemError(error) ? fileFailure(`${inputName(name)} cannot be read`, error) : error
    }
  }

  /** The bytes, in blocks. From the second time on: @throws CommandFailure before a block that is not the same any more */
  async *blocks(): AsyncGenerator<Buffer> {
    let position = 0
    for (let count = 0; ; count++) {
      // A new one each time: who was given the last one may still be at it.
      const block = await this.#read(Buffer.allocUnsafe(BLOCK_BYTES), position)
      const digest = createHash('sha256').update(block).digest('base64')
      if (this.#sha256 === undefined) {
        this.#hash.update(block)
        this.#digests.push(digest)
      } else if (this.#digests[count] !== digest) {
        throw changed(this.name)
      }
      if (block.length > 0) yield block
      position += block.length
      if (block.length < BLOCK_BYTES) break
    }
    this.#sha256 ??= this.#hash.digest('hex')
  }

  /** As `sha256sum` gives it; once the file has been read to its end. */
  get sha256(): string | undefined {
    return this.#sha256
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  async #read(block: Buffer, position: number): Promise<Buffer> {
    let filled = 0
    try {
      for (let count = -1; count !== 0 && filled < block.length; filled += count) {
        count = (await this.#handle.read(block, filled, block.length - filled, position + filled)).bytesRead
      }
    } catch (error) {
      throw fileFailure(`${inputName(this.name)} cannot be read`, error)
    }
    return block.subarray(0, filled)
  }
}

const notReadableTwice = (name: string, isFolder: boolean): Error =>
  isFolder
    ? usageFailure(`${inputName(name)} cannot be read: it is a folder`)
    : usageFailure(
        `${inputName(name)} is a pipe or a device: a list is read twice, so it must be a file`,
        'save it to a file',
      )

const changed = (name: string): Error =>
  usageFailure(
    `${inputName(name)} has changed since it was checked: nothing after the change was sent`,
    'run the command again with the list as it is now',
  )
