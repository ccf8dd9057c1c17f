import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import { typeName } from '../../shared/types.ts'
import { type ReadRow, readRow } from '../award/row.ts'
import { invalidRequest } from '../invalid-request.ts'

/** A list of awards, however it is made: an array, a generator, a stream of parsed lines. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>

/** A row, and its place in the list, from 0. */
export interface Placed {
  readonly row: ReadRow
  readonly index: number
}

/** How long rows may be read before timers, aborts and the network get a turn. */
const MAX_TURN_MS = 10
/** How long a list may take to clean up when it is left in the middle. */
const MAX_CLEAN_UP_MS = 1_000

/** How many rows there are, where the list tells. */
export function lengthOf(rows: Rows<unknown>): number | undefined {
  if (Array.isArray(rows)) return rows.length
  return rows instanceof Set ? rows.size : undefined
}

/** Reads the rows of a list, one at a time and only when somebody waits for one. */
export class RowSource {
  readonly #iterator: Iterator<unknown> | AsyncIterator<unknown>
  /** An async generator, because it queues concurrent calls of `next()` and answers them in order. */
  readonly #rows: AsyncGenerator<Placed, undefined>
  #stopReading: () => void = () => undefined
  #isReading = false
  #isEnded = false
  #isClosed = false
  #read = 0

  /** @throws InvalidRequestError when it is not a list */
  constructor(rows: unknown) {
    this.#iterator = iteratorOf(rows)
    this.#rows = this.#readAll()
  }

  /** How many rows the list has given. */
  get read(): number {
    return this.#read
  }

  /** Whether the list said that it has no more rows. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** The next row; undefined at the end and once the source is closed. @throws what the list throws */
  async take(): Promise<Placed | undefined> {
    return (await this.#rows.next()).value
  }

  /** Reads no more. A list that was not read to its end may clean up; one that hangs is not waited for. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopReading()
    if (this.#isEnded) return
    const isCleanedUp = (async () => this.#iterator.return?.())().catch(() => undefined)
    // While a row is being read, `return()` of an async generator waits for that row. It may never come: do not wait.
    if (this.#isReading) return
    const timeout = new AbortController()
    const isTooLong = wait(MAX_CLEAN_UP_MS, undefined, { signal: timeout.signal }).catch(() => undefined)
    await Promise.race([isCleanedUp, isTooLong])
    timeout.abort()
  }

  async *#readAll(): AsyncGenerator<Placed, undefined> {
    let turnEnds = performance.now() + MAX_TURN_MS
    while (!this.#isClosed) {
      if (performance.now() > turnEnds) {
        await setImmediate()
        turnEnds = performance.now() + MAX_TURN_MS
        continue
      }
      const result = await this.#readOne()
      if (result === undefined) return undefined
      yield { row: readRow(result.value), index: this.#read++ }
    }
    return undefined
  }

  async #readOne(): Promise<IteratorYieldResult<unknown> | undefined> {
    this.#isReading = true
    try {
      const next = this.#iterator.next()
      const result = isThenable(next) ? await this.#unlessClosed(next) : next
      if (this.#isClosed) return undefined
      if (typeof result !== 'object' || result === null) {
        throw new TypeError(`the iterator of the rows gave ${typeName(result)} instead of a result`)
      }
      if (!result.done) return result as IteratorYieldResult<unknown>
      this.#isEnded = true
      return undefined
    } catch (error) {
      // A list that has thrown is not told to clean up.
      this.#isClosed = true
      throw error
    } finally {
      this.#isReading = false
    }
  }

  /** A list that never answers must not hold a run that was stopped. */
  #unlessClosed(next: PromiseLike<IteratorResult<unknown>>): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      this.#stopReading = () => resolve({ done: true, value: undefined })
      next.then(resolve, reject)
    })
  }
}

function iteratorOf(rows: unknown): Iterator<unknown> | AsyncIterator<unknown> {
  const list = rows as Partial<Iterable<unknown> & AsyncIterable<unknown>> | null | undefined
  // The characters of a string are not rows.
  const isObject = (typeof rows === 'object' && rows !== null) || typeof rows === 'function'
  const method = isObject ? (list?.[Symbol.asyncIterator] ?? list?.[Symbol.iterator]) : undefined
  if (typeof method !== 'function') {
    const message = `must be an iterable or an async iterable of awards, got ${typeName(rows)}`
    throw invalidRequest('rewardWallets', [{ path: ['rows'], message }])
  }
  let iterator: unknown
  try {
    iterator = Reflect.apply(method, rows, [])
  } catch (error) {
    return failing(error)
  }
  if (typeof iterator === 'object' && iterator !== null && 'next' in iterator) return iterator as Iterator<unknown>
  throw invalidRequest('rewardWallets', [{ path: ['rows'], message: 'gave no iterator' }])
}

/** A list that throws before its first row stops the run as one that throws later does. */
const failing = (error: unknown): Iterator<unknown> => ({
  next() {
    throw error
  },
})

const isThenable = <Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
