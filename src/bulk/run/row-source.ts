import { setImmediate } from 'node:timers/promises'
import { hasMethod, typeName } from '../../shared/type-checks.ts'
import { type ReadRow, readRow } from '../award/row.ts'
import { invalidRequestError } from '../errors.ts'

/** A list of awards: an array, a generator, a stream of parsed lines. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>

export interface SourceRow {
  readonly row: ReadRow
  /** The position of the row in the list, from 0. */
  readonly index: number
}

/** How long a synchronous list may block timers, aborts and the network. */
const MAX_BLOCK_MS = 10
/** How long to wait for `return()` of the iterator. */
const MAX_CLEAN_UP_MS = 1_000

/** Returns the number of rows of an array or a set; `undefined` for any other list. */
export function lengthOf(rows: Rows<unknown>): number | undefined {
  if (Array.isArray(rows)) return rows.length
  return rows instanceof Set ? rows.size : undefined
}

/** Reads the rows of a list, one at a time and on demand. */
export class RowSource {
  readonly #iterator: Iterator<unknown> | AsyncIterator<unknown>
  /** An async generator, because it queues concurrent calls of `next()` and answers them in order. */
  readonly #rows: AsyncGenerator<SourceRow, undefined>
  #stopReading: () => void = () => undefined
  #isReading = false
  #isEnded = false
  #isClosed = false
  #closing: Promise<void> | undefined
  #rowsRead = 0

  /** @throws InvalidRequestError when `rows` is not iterable */
  constructor(rows: unknown) {
    this.#iterator = iteratorOf(rows)
    this.#rows = this.#readAll()
  }

  get rowsRead(): number {
    return this.#rowsRead
  }

  /** Whether the list was read to its end. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Returns the next row; `undefined` at the end and after `close`. @throws the error of the list */
  async next(): Promise<SourceRow | undefined> {
    return (await this.#rows.next()).value
  }

  /** Stops reading. If the iterator has not ended, calls its `return()` and waits for up to one second. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopReading()
    if (this.#isEnded) return
    const cleanUp = (async () => this.#iterator.return?.())().catch(() => undefined)
    // `return()` of an async generator waits for a pending `next()`, which may never resolve.
    if (this.#isReading) return
    let timer: NodeJS.Timeout | undefined
    const timeLimit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, MAX_CLEAN_UP_MS)
    })
    await Promise.race([cleanUp, timeLimit])
    clearTimeout(timer)
  }

  async *#readAll(): AsyncGenerator<SourceRow, undefined> {
    let blockEndsAt = performance.now() + MAX_BLOCK_MS
    while (!this.#isClosed) {
      if (performance.now() > blockEndsAt) {
        await setImmediate()
        blockEndsAt = performance.now() + MAX_BLOCK_MS
        continue
      }
      const result = await this.#readOne()
      if (result === undefined) return undefined
      yield { row: readRow(result.value), index: this.#rowsRead++ }
    }
    return undefined
  }

  async #readOne(): Promise<IteratorYieldResult<unknown> | undefined> {
    this.#isReading = true
    try {
      const next = this.#iterator.next()
      const result = isThenable(next) ? await this.#untilClosed(next) : next
      if (this.#isClosed) return undefined
      if (typeof result !== 'object' || result === null) {
        throw new TypeError(`next() of the rows must return an object, got ${typeName(result)}`)
      }
      if (!result.done) return result as IteratorYieldResult<unknown>
      this.#isEnded = true
      return undefined
    } catch (error) {
      // After an error, `return()` must not be called.
      this.#isClosed = true
      throw error
    } finally {
      this.#isReading = false
    }
  }

  /** Resolves like `next`. Resolves as done if the source is closed first, because `next` may never resolve. */
  #untilClosed(next: PromiseLike<IteratorResult<unknown>>): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      this.#stopReading = () => resolve({ done: true, value: undefined })
      next.then(resolve, reject)
    })
  }
}

function iteratorOf(rows: unknown): Iterator<unknown> | AsyncIterator<unknown> {
  const list = rows as Partial<Iterable<unknown> & AsyncIterable<unknown>> | null | undefined
  // A string is iterable, but its characters are not rows.
  const method = typeof rows === 'string' ? undefined : (list?.[Symbol.asyncIterator] ?? list?.[Symbol.iterator])
  if (typeof method !== 'function') {
    const message = `must be an iterable or an async iterable of awards, got ${typeName(rows)}`
    throw invalidRequestError('rewardWallets', [{ path: ['rows'], message }])
  }
  let iterator: unknown
  try {
    iterator = Reflect.apply(method, rows, [])
  } catch (error) {
    return failingIterator(error)
  }
  if (typeof iterator === 'object' && iterator !== null && 'next' in iterator) return iterator as Iterator<unknown>
  throw invalidRequestError('rewardWallets', [
    { path: ['rows'], message: 'must return an iterator from its iterator method' },
  ])
}

/** Throws the error on the first `next()`, so that it stops the run like every other error of the list. */
const failingIterator = (error: unknown): Iterator<unknown> => ({
  next() {
    throw error
  },
})

const isThenable = <Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> => hasMethod(value, 'then')
