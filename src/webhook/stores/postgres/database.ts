/** Sends one statement with its parameters, and resolves to its rows. */
export type Query = (text: string, ...values: (string | number)[]) => Promise<readonly unknown[]>

/** What the store needs of either client. */
export interface Database {
  query: Query
  /** Runs `work` in one transaction, committed when it resolves and rolled back when it rejects. */
  transaction(work: (query: Query, tx: unknown) => Promise<void>): Promise<void>
}
