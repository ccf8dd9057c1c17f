import { groupOf } from './format.ts'
import type { LedgerEnd } from './read-groups.ts'
import type { LedgerFile } from './storage.ts'

/** Appends lines in groups, with one flush per group. While a group is flushed, lines of the next group are collected. */
export class GroupWriter {
  readonly #file: LedgerFile
  readonly #checkLock: () => void
  #end: LedgerEnd
  #nextGroup: PendingGroup | undefined
  #writing: Promise<void> | undefined
  #failure: { readonly reason: unknown } | undefined

  /** @param checkLock - throws when another run has taken over the ledger */
  constructor(file: LedgerFile, end: LedgerEnd, checkLock: () => void) {
    this.#file = file
    this.#end = end
    this.#checkLock = checkLock
  }

  /**
   * Resolves when the line is flushed. After a failure, every call rejects with the same error, because the content of the
   * disk is unknown until the ledger is opened again.
   */
  append(line: string): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason)
    this.#nextGroup ??= new PendingGroup()
    this.#nextGroup.lines.push(line)
    const { flushed } = this.#nextGroup
    this.#writing ??= this.#write()
    return flushed
  }

  /** Resolves when all writes have succeeded or failed. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async #write(): Promise<void> {
    // Wait one microtask, so that lines appended in the same turn of the event loop join the group.
    await undefined
    for (let group = this.#takeNextGroup(); group !== undefined; group = this.#takeNextGroup()) {
      try {
        await this.#writeGroup(group.lines)
        group.resolve()
      } catch (reason) {
        this.#failure = { reason }
        group.reject(reason)
        // Lines that were collected during the failed write.
        this.#takeNextGroup()?.reject(reason)
      }
    }
    this.#writing = undefined
  }

  #takeNextGroup(): PendingGroup | undefined {
    const group = this.#nextGroup
    this.#nextGroup = undefined
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

class PendingGroup {
  readonly lines: string[] = []
  resolve!: () => void
  reject!: (reason: unknown) => void
  readonly flushed = new Promise<void>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })

  constructor() {
    // An unhandled rejection would end the process. Callers of `append` still get the rejection.
    this.flushed.catch(() => undefined)
  }
}
