/** The store of a receiver. `bare` is a handler that only verifies and parses. */
export type ReceiverKind = 'bare' | 'memory' | 'redis' | 'ioredis' | 'pg' | 'postgres'

/** The resources that a receiver has used since its start. */
export interface ReceiverUse {
  /** CPU time, in microseconds. */
  readonly cpu: number
  /** Heap in use, in bytes. */
  readonly heap: number
  /** Number of handled messages. */
  readonly handled: number
}

/** Requests a {@link ReceiverUse}, optionally after a garbage collection. A collection slows the next thousands of messages. */
export type ReceiverQuestion = 'use' | 'use after collection'

export const SECRET = 'the-secret-of-the-bench'
