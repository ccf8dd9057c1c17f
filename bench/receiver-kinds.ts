/** A bare handler, and receivers by their store. */
export type ReceiverKind = 'bare' | 'memory' | 'redis' | 'ioredis' | 'pg' | 'postgres'

/** What a receiver has used and handled since its start. */
export interface ReceiverUse {
  /** CPU time, in microseconds. */
  readonly cpu: number
  /** Heap in use, in bytes. */
  readonly heap: number
  /** Messages. */
  readonly handled: number
}

/**
 * Asks a receiver for its use, before or after a full collection. A collection slows the next thousands of messages.
 */
export type ReceiverQuestion = 'use' | 'use, collected'

export const SECRET = 'the-secret-of-the-bench'
