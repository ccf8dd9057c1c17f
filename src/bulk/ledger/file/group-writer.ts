import { commitLine, groupSum } from './lines.ts'
import type { LedgerFile } from './storage.ts'

/** Where a ledger goes on. */
export interface LedgerEnd {
  readonly position: number
  /** Of the last group. */
  readonly sum: string
}

/**
 * Appends lines in groups: while one group is being made durable, the lines of the next one gather. So many awards at
 * once cost one flush.
 */
export class GroupWriter {
  readonly #file: LedgerFile
  readonly #mayWrite: () => void
  #end: LedgerEnd
  #gathering: Gathering | undefined
  #writing: Promise<void> | undefined
  #failure: { readonly reason: unknown } | undefined

  /** @param mayWrite - called right before each group; throws when the file is no longer ours */
  constructor(file: LedgerFile, end: LedgerEnd, mayWrite: () => void) {
    this.#file = file
    this.#end = end
    this.#mayWrite = mayWrite
  }

  /**
   * Resolves when the line is durable. After a failure every call rejects with it: what is on the disk then, only
   * opening it again can tell.
   */
  append(line: string): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.reason)
    this.#gathering ??= new Gathering()
    this.#gathering.lines.push(line)
    const { durable } = this.#gathering
    this.#writing ??= this.#write()
    return durable
  }

  /** Resolves when nothing waits to be written any more, successfully or not. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async #write(): Promise<void> {
    // In a later turn, so that what is appended in this one comes along.
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
    const text = Buffer.from(lines.join(''))
    const sum = groupSum(this.#end.sum, text)
    const bytes = Buffer.concat([text, Buffer.from(commitLine(lines.length, sum))])
    const end = { position: this.#end.position + bytes.length, sum }
    this.#mayWrite()
    await this.#file.write(bytes, this.#end.position)
    await Promise.all([this.#file.flush(), this.#file.check(end.position)])
    this.#end = end
  }
}

class Gathering {
  readonly lines: string[] = []
  resolve!: () => void
  reject!: (reason: unknown) => void
  readonly durable = new Promise<void>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })

  constructor() {
    // Whoever appended hears of it. That all of them have gone must not end the process.
    this.durable.catch(() => undefined)
  }
}
