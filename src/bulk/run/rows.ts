import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import { typeName } from '../../shared/types.ts'
import { type ReadRow, readRow } from '../award/row.ts'
import type { Verdict } from '../award/verdict.ts'
import { invalidRequest } from '../invalid-request.ts'

/** A list of awards, however it is made: an array, a generator, a stream of parsed lines. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>

/** A row, and its place in the list, from 0. */
export interface Placed {
  readonly row: ReadRow
  readonly index: number
  /** It was in hand before, and came back into the line. */
  readonly again?: Comeback
}

/** What is known of a row that came back into the line. */
export interface Comeback {
  /** What the ledger has for it, if anything. */
  readonly standing: Verdict | undefined
}

/** How long rows may be handed out before others get a turn: timers, a caller's abort, the network. */
const TURN_MS = 10
/** How long a list may take to clean up behind itself when it is left in the middle. */
const CLEAN_UP_MS = 1_000
/** Rows that wait for their time at most, before no new ones are read. */
const MOST_ASIDE = 1_000

/** How many rows there are, where the list says so by itself. */
export function lengthOf(rows: Rows<unknown>): number | undefined {
  try {
    if (Array.isArray(rows)) return rows.length
    return rows instanceof Set ? rows.size : undefined
  } catch {
    // What throws here will throw when it is read.
    return undefined
  }
}

/**
 * Hands out the rows of a list one after the other, and rows that come back into the line before new ones. The list is
 * never asked for two rows at once, nor for one that nobody waits for.
 */
export class RowSource {
  readonly #iterator: Iterator<unknown> | AsyncIterator<unknown>
  readonly #line: Placed[] = []
  /** Rows that come back into the line when their time has come. */
  readonly #aside = new Map<Placed, NodeJS.Timeout>()
  #waiting: (() => void)[] = []
  #reading = false
  #giveUp: () => void = () => undefined
  #ended = false
  #closed = false
  /** Rows that may still come back. */
  #out = 0
  #read = 0
  #turnEnds = performance.now() + TURN_MS

  /** @throws InvalidRequestError when it is no list */
  constructor(rows: unknown) {
    this.#iterator = iteratorOf(rows)
  }

  /** How many rows the list has given. */
  get read(): number {
    return this.#read
  }

  /** Whether the list said that it has no more rows. */
  get ended(): boolean {
    return this.#ended
  }

  /**
   * The next row, or undefined when none will come any more. Each one must be given back or done with.
   *
   * @throws what the list throws
   */
  async take(): Promise<Placed | undefined> {
    for (;;) {
      if (performance.now() > this.#turnEnds) {
        await setImmediate()
        this.#turnEnds = performance.now() + TURN_MS
      }
      if (this.#closed) return undefined
      const returned = this.#line.shift()
      if (returned !== undefined) return returned
      if (!this.#ended && !this.#reading && this.#aside.size < MOST_ASIDE) {
        const placed = await this.#readOne()
        if (placed !== undefined) return placed
        continue
      }
      if (this.#ended && this.#out === 0) return undefined
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** The row will not come back. */
  done(): void {
    this.#out--
    if (this.#out === 0 && this.#ended) this.#wakeAll()
  }

  /** Puts a row back into the line, at once or after a while. */
  giveBack({ row, index }: Placed, again: Comeback, delayMs = 0): void {
    const placed = { row, index, again }
    const queue = (): void => {
      this.#aside.delete(placed)
      this.#line.push(placed)
      this.#wakeOne()
    }
    if (delayMs === 0 || this.#closed) queue()
    else this.#aside.set(placed, setTimeout(queue, delayMs))
  }

  /** After the source was closed: the rows that came back and were not handed out any more. */
  get left(): readonly Placed[] {
    return this.#line
  }

  /** Hands out no more rows. A list that was not read to its end may clean up; one that hangs is not waited for. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (const [placed, timer] of this.#aside) {
      clearTimeout(timer)
      this.#line.push(placed)
    }
    this.#aside.clear()
    this.#giveUp()
    this.#wakeAll()
    if (this.#ended) return
    const isCleanedUp = (async () => this.#iterator.return?.())().catch(() => undefined)
    // An asynchronous generator cleans up after the row that it is just making, if it ever makes it.
    if (this.#reading) return
    const patience = new AbortController()
    const tooLong = wait(CLEAN_UP_MS, undefined, { signal: patience.signal }).catch(() => undefined)
    await Promise.race([isCleanedUp, tooLong])
    patience.abort()
  }

  async #readOne(): Promise<Placed | undefined> {
    this.#reading = true
    try {
      const next = this.#iterator.next()
      const result: unknown = isThenable(next) ? await this.#unlessClosed(next) : next
      if (this.#closed) return undefined
      if (typeof result !== 'object' || result === null) {
        throw new TypeError(`the iterator of the rows gave ${typeName(result)} instead of a result`)
      }
      const { done, value } = result as IteratorResult<unknown>
      if (done) {
        this.#ended = true
        return undefined
      }
      this.#out++
      return { row: readRow(value), index: this.#read++ }
    } catch (error) {
      // It is broken: it must neither be asked again nor told to clean up.
      this.#ended = true
      this.#closed = true
      throw error
    } finally {
      this.#reading = false
      if (this.#ended) this.#wakeAll()
      else this.#wakeOne()
    }
  }

  /** A list that never answers must not hold a run that has been stopped. */
  #unlessClosed(next: PromiseLike<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve(undefined)
      next.then(resolve, reject)
    })
  }

  #wakeOne(): void {
    this.#waiting.shift()?.()
  }

  #wakeAll(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}

function iteratorOf(rows: unknown): Iterator<unknown> | AsyncIterator<unknown> {
  // The characters of a text are no rows.
  if ((typeof rows === 'object' && rows !== null) || typeof rows === 'function') {
    for (const name of [Symbol.asyncIterator, Symbol.iterator]) {
      let iterator: unknown
      try {
        const method: unknown = Reflect.get(rows, name)
        if (typeof method !== 'function') continue
        iterator = Reflect.apply(method, rows, [])
      } catch (error) {
        return failing(error)
      }
      if (typeof iterator === 'object' && iterator !== null && 'next' in iterator) return iterator as Iterator<unknown>
      throw invalidRequest('rewardWallets', [{ path: ['rows'], message: 'gave no iterator' }])
    }
  }
  const message = `must be an iterable or an async iterable of awards, got ${typeName(rows)}`
  throw invalidRequest('rewardWallets', [{ path: ['rows'], message }])
}

/** A list that throws before its first row ends the run as one that throws later does. */
const failing = (error: unknown): Iterator<unknown> => ({
  next() {
    throw error
  },
})

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
