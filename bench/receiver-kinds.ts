/** A bare handler, and receivers by their store or by the client of it. */
export type ReceiverKind = 'bare' | 'memory' | 'redis' | 'ioredis' | 'pg' | 'postgres'

/** What a receiver took and handled since it was started. */
export interface ReceiverUse {
  /** CPU time, in microseconds. */
  readonly cpu: number
  /** Heap in use after a full collection, in bytes. */
  readonly heap: number
  /** Messages. */
  readonly handled: number
}

export const SECRET = 'the-secret-of-the-bench'
