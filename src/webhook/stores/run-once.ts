/** The outcome of `runOnce`, with the result of the function. */
export type RunOnceResult<Result> = { ran: true; result: Result } | { ran: false }

export const COMMITTED_BY_APPLY =
  'the function of runOnce committed or rolled back, so its writes and the key were not committed together. Throw to ' +
  'roll back, return to commit'

/** The message when an INSERT stored nothing, although no other record has the key. */
export const notStored = (store: string): string =>
  `${store}: the database did not store the record, and has no other record of the key. A trigger of the table drops ` +
  'inserts: remove it'

/** Checks the limit of `prune`. @throws RangeError when it is not a positive whole number */
export function requireLimit(limit: number): void {
  if (Number.isSafeInteger(limit) && limit >= 1) return
  throw new RangeError(`The limit of prune must be a whole number, at least 1, got ${String(limit)}`)
}
