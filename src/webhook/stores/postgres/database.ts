import { Semaphore } from '../../../shared/semaphore.ts'
import { warnOnce } from '../../../shared/warn-once.ts'

/** Sends one statement with its parameters, and resolves to its rows. */
export type Query = (text: string, ...values: (string | number)[]) => Promise<readonly unknown[]>

/** The common interface of `pg` and `postgres`. */
export interface Database {
  query: Query
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
  transaction(work: (transaction: Transaction) => Promise<void>): Promise<void>
}

/** An open transaction. */
export interface Transaction {
  query: Query
  /** Calls `apply` with the client of the transaction. The client cannot be used after `apply` has ended. */
  withClient<Result>(apply: (tx: unknown) => Result): Promise<Awaited<Result>>
}

/** The error of a query after the end of its transaction. Another transaction may already use the connection. */
export const ENDED =
  'the transaction of runOnce has ended: await everything that you write through tx before your function returns'

const TOO_FEW_CONNECTIONS =
  'postgresStore: give the pool at least three connections (max). With fewer, claims, extensions and completions wait ' +
  'for the transactions of runOnce, and a lease may expire.'

const limits = new WeakMap<object, Semaphore>()

/**
 * Runs a transaction, and reserves one connection of the pool for other statements. Otherwise extensions would wait for
 * whole transactions, and leases would expire. Does not limit a pool of fewer than three connections, or of unknown size.
 *
 * @param pool - all stores over the same pool share the limit
 */
export function limitTransactions<Result>(
  pool: object,
  connections: number | undefined,
  transaction: () => Promise<Result>,
): Promise<Result> {
  if (connections === undefined) return transaction()
  if (connections < 3) {
    warnOnce('small-pool', TOO_FEW_CONNECTIONS)
    return transaction()
  }
  const limit = limits.get(pool) ?? new Semaphore(connections - 1)
  limits.set(pool, limit)
  return limit.run(transaction)
}
