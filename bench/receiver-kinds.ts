/** A bare handler, and receivers by their store or by the client of it. */
export type ReceiverKind = 'bare' | 'memory' | 'redis' | 'ioredis' | 'pg' | 'postgres'

/** What a receiver took and handled since it was started. */
export interface ReceiverUse {
  /** CPU time, in microseconds. */
  readonly cpu: number
  /** Heap in use, in bytes. */
  readonly heap: number
  /** Messages. */
  readonly handled: number
}

/**
 * What a receiver is asked: its use as it is, or after a full collection. That empties what a busy process has grown for
 * short-lived objects, and makes the next thousands of messages dearer.
 */
export type ReceiverQuestion = 'use' | 'use, collected'

export const SECRET = 'the-secret-of-the-bench'
