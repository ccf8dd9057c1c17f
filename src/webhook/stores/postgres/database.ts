import { Semaphore } from '../../../shared/semaphore.ts'
import { warnOnce } from '../../../shared/warn-once.ts'

/** Sends one statement with its parameters, and resolves to its rows. */
export type Query = (text: string, ...values: (string | number)[]) => Promise<readonly unknown[]>

/** What the store needs of either client. */
export interface Database {
  query: Query
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
  transaction(work: (transaction: Transaction) => Promise<void>): Promise<void>
}

/** An open transaction. */
export interface Transaction {
  query: Query
  /** Calls the function with the client of the transaction, which cannot be used after the function has ended. */
  lend<Result>(apply: (tx: unknown) => Result): Promise<Awaited<Result>>
}

/** The error of a `tx` that is used too late: its connection may belong to another transaction by then. */
export const ENDED =
  'the transaction of runOnce is over: await everything you write through tx before your function returns'

const TOO_FEW_CONNECTIONS =
  'postgresStore: give the pool at least three connections (max). With fewer, claims, extensions and completions wait ' +
  'behind the transactions of runOnce, and a lease may run out meanwhile.'

const limits = new WeakMap<object, Semaphore>()

/**
 * Runs a transaction, and keeps one connection of the pool free of transactions. Otherwise claims, extensions and
 * completions would wait behind whole transactions, and leases would run out. Has no effect when the pool has fewer than
 * three connections, or an unknown number.
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
