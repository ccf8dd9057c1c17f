import { vi } from 'vitest'

interface Timer {
  at: number
  order: number
  callback: () => void
}

const realSetImmediate = setImmediate

/**
 * A clock that advances when no other work is pending. Replaces `setTimeout` and `performance.now()`. Uses a heap, because
 * the simulation starts hundreds of thousands of timers.
 */
export class VirtualClock {
  now = 0
  readonly #heap: Timer[] = []
  readonly #cancelled = new Set<Timer>()
  #order = 0

  /** Replaces the globals until `vi.unstubAllGlobals()`. */
  install(): void {
    vi.stubGlobal('setTimeout', (callback: () => void, delayMs = 0) => this.start(delayMs, callback))
    vi.stubGlobal('clearTimeout', (timer: Timer | undefined) => {
      if (timer !== undefined) this.#cancelled.add(timer)
    })
    vi.stubGlobal('performance', { now: () => this.now })
  }

  start(delayMs: number, callback: () => void): Timer {
    const timer: Timer = { at: this.now + Math.max(delayMs, 0), order: this.#order++, callback }
    this.#push(timer)
    return timer
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.start(delayMs, resolve))
  }

  /** Runs until no timer is left. */
  async run(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => realSetImmediate(resolve))
      const next = this.#heap[0]
      if (next === undefined) return
      this.now = Math.max(this.now, next.at)
      while (this.#heap[0] !== undefined && this.#heap[0].at <= this.now) {
        const timer = this.#pop()
        if (!this.#cancelled.delete(timer)) timer.callback()
      }
    }
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let index = heap.push(timer) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (before(heap[parent] as Timer, timer)) break
      heap[index] = heap[parent] as Timer
      index = parent
    }
    heap[index] = timer
  }

  #pop(): Timer {
    const heap = this.#heap
    const first = heap[0] as Timer
    const last = heap.pop() as Timer
    if (heap.length === 0) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1] as Timer, heap[child] as Timer)) child += 1
      if (before(last, heap[child] as Timer)) break
      heap[index] = heap[child] as Timer
      index = child
    }
    heap[index] = last
    return first
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
