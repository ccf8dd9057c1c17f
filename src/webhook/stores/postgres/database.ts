/** Sends one statement with its parameters, and resolves to its rows. */
export type Query = (text: string, ...values: (string | number)[]) => Promise<readonly unknown[]>

/** What the store needs of either client. */
export interface Database {
  query: Query
  /** Runs `work` in one transaction, committed when it resolves and rolled back when it rejects. */
  transaction(work: (transaction: Transaction) => Promise<void>): Promise<void>
}

/** A transaction that is open. */
export interface Transaction {
  query: Query
  /** Calls the function with the client of the transaction, which refuses to be used once the function is through. */
  lend<Result>(apply: (tx: unknown) => Result): Promise<Awaited<Result>>
}

/** What `tx` says when somebody kept it and uses it later: its connection is at work for somebody else by then. */
export const ENDED =
  'runOnce is over, and its transaction with it: what is written through tx has to be awaited in the function'
