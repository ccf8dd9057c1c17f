import { groupOf } from './lines.ts'
import type { LedgerEnd } from './read-groups.ts'
import type { LedgerFile } from './storage.ts'

/**
 * Appends lines in groups: while one group is flushed, the lines of the next one are collected. Awards thereby share a
 * flush.
 */
export class GroupWriter {
  readonly #file: LedgerFile
  readonly #checkLock: () => void
  #end: LedgerEnd
  #gathering: Gathering | undefined
  #writing: Promise<void> | undefined
  #failure: { readonly reason: unknown } | undefined

  /** @param checkLock - throws when another run has taken over the ledger */
  constructor(file: LedgerFile, end: LedgerEnd, checkLock: () => void) {
    this.#file = file
    this.#end = end
    this.#checkLock = checkLock
  }

  /**
   * Resolves when the line is flushed. A failure is final, and every later call rejects with it: only opening the ledger
   * again can tell what is on the disk.
   */
  append(line: string): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason)
    this.#gathering ??= new Gathering()
    this.#gathering.lines.push(line)
    const { flushed } = this.#gathering
    this.#writing ??= this.#write()
    return flushed
  }

  /** Resolves when nothing is being written any more, successfully or not. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async #write(): Promise<void> {
    // Wait one microtask, so that lines appended in the same turn of the event loop join the group.
    await undefined
    for (let group = this.#take(); group !== undefined; group = this.#take()) {
      try {
        await this.#writeGroup(group.lines)
        group.resolve()
      } catch (reason) {
        this.#failure = { reason }
        group.reject(reason)
        this.#take()?.reject(reason)
      }
    }
    this.#writing = undefined
  }

  #take(): Gathering | undefined {
    const group = this.#gathering
    this.#gathering = undefined
    return group
  }

  async #writeGroup(lines: readonly string[]): Promise<void> {
    const { bytes, sum } = groupOf(this.#end.sum, lines)
    const end = { position: this.#end.position + bytes.length, sum }
    this.#checkLock()
    await this.#file.write(bytes, this.#end.position)
    await Promise.all([this.#file.flush(), this.#file.check(end.position)])
    this.#end = end
  }
}

class Gathering {
  readonly lines: string[] = []
  resolve!: () => void
  reject!: (reason: unknown) => void
  readonly flushed = new Promise<void>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })

  constructor() {
    // Callers of `append` still get the rejection. Without this handler, one that nobody awaits would end the process.
    this.flushed.catch(() => undefined)
  }
}
