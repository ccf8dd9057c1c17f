/** The key of a ledger's implementation, the same in every copy of the package in a process. */
export const LEDGER: unique symbol = Symbol.for('campaign-client.ledger') as never

/** The `cause` of the error of a ledger that has changed since a plan was made. */
export const LEDGER_CHANGED = Symbol('ledger changed')
