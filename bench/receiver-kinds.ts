/** The store or database package of a receiver. `bare` is a handler without a store. */
export type ReceiverKind = 'bare' | 'memory' | 'redis' | 'ioredis' | 'pg' | 'postgres' | 'sqlite'

/** How a receiver is created. */
export interface ReceiverOptions {
  readonly kind: ReceiverKind
  /** The URL or the path of its store. */
  readonly url?: string | undefined
  readonly keepFailed?: boolean
}

/** The resources that a receiver has used since its start. */
export interface ReceiverUse {
  /** CPU time, in microseconds. */
  readonly cpu: number
  /** Heap in use, in bytes. */
  readonly heap: number
  /** Number of handled messages. */
  readonly handled: number
}

/**
 * A request for a {@link ReceiverUse}. `use after collection` first collects garbage, which slows the next few thousand
 * messages.
 */
export type ReceiverQuestion = 'use' | 'use after collection'

export const SECRET = 'the-secret-of-the-bench'
