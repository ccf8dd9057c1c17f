import * as z from 'zod/mini'
import { type RewardWalletRequest, rewardWalletRequest } from '../endpoints/reward-wallet.ts'
import { invalidRequestError } from '../errors/option-checks.ts'
import { copyOfFields, validate } from '../schemas/validate.ts'
import { isSameAward } from '../shared/award.ts'
import type { ClientInternals } from '../shared/client-internals.ts'
import type { Issue } from '../shared/issue.ts'
import { toJsonLine } from '../shared/text.ts'
import { nextTurn, onAbort } from '../shared/timers.ts'
import { hasMethod, isRecord, typeName } from '../shared/type-checks.ts'

/** One award of a list: the argument of `rewardWallet`, with an `xp` above 0. */
export type AwardRow = RewardWalletRequest

/** A list: an array, a generator, a stream of parsed lines. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>

const { shape } = rewardWalletRequest
const hasNoNul = z.refine<string>((text) => !text.includes('\0'), 'must not contain U+0000')
const awardRow = z.object({
  address: shape.address,
  pid: shape.pid.check(hasNoNul),
  id: shape.id.check(hasNoNul),
  xp: shape.xp.check(z.refine((amount: number) => amount > 0, 'must be above 0')),
})

export type CheckedRow =
  | { readonly ok: true; readonly row: AwardRow }
  /** `row` has the fields with the right type, for the report. */
  | { readonly ok: false; readonly row: Partial<AwardRow>; readonly issues: readonly Issue[] }

/**
 * Copies a row and checks the copy, including the client's guard. Call it before the next row is read: a list may reuse
 * one object for all rows.
 */
export function checkRow(given: unknown, client: ClientInternals | undefined): CheckedRow {
  const copy = copyOfFields(awardRow, given)
  const checked = validate(awardRow, copy)
  const issues = checked.ok ? (client?.refusalsOfAward(checked.value) ?? []) : checked.issues
  if (checked.ok && issues.length === 0) return { ok: true, row: checked.value }
  const { address, pid, id, xp } = isRecord(copy) ? copy : {}
  const row = {
    ...(typeof id === 'string' && { id }),
    ...(typeof address === 'string' && { address }),
    ...(typeof pid === 'string' && { pid }),
    ...(Number.isFinite(xp) && { xp: xp as number }),
  }
  return { ok: false, row, issues }
}

/** Returns an issue for each field in which a row differs from the known award with the same id. */
export function conflictIssues(row: AwardRow, known: AwardRow): Issue[] {
  // A field differs if the known award's value would make the row another award.
  const names = (['address', 'pid', 'xp'] as const).filter((name) => !isSameAward({ ...row, [name]: known[name] }, row))
  return names.map((name) => ({
    path: [name],
    message: `is ${toJsonLine(row[name])}, but the award with the id ${toJsonLine(row.id)} has ${toJsonLine(known[name])}`,
  }))
}

/** Returns the size of an array or a set; `undefined` for any other list. */
export function lengthOf(list: Rows<unknown>): number | undefined {
  if (Array.isArray(list)) return list.length
  return list instanceof Set ? list.size : undefined
}

/** How long a synchronous list may block timers, aborts and the network. */
const MAX_BLOCK_MS = 10

/**
 * Reads a list on demand. Ends when `stopped` is aborted, even while `next` of the list is pending. If it ends early between
 * two items, it calls `return` of the list and waits for it.
 *
 * @param read - converts an item before the next item is read
 * @param caller - the function and its argument, for the error of a malformed list
 * @throws the error of the list
 */
export async function* readList<Item, Result>(
  list: Rows<Item>,
  read: (item: Item) => Result,
  stopped: AbortSignal,
  caller: { readonly operation: string; readonly argument: string },
): AsyncGenerator<Result, void> {
  if (stopped.aborted) return
  const iterator = Symbol.asyncIterator in list ? list[Symbol.asyncIterator]() : list[Symbol.iterator]()
  let abandon: () => void = () => undefined
  const removeListener = onAbort(stopped, () => abandon())
  // False while `next` is pending, and after the end of the list or its error.
  let canReturn = false
  try {
    let blockEndsAt = performance.now() + MAX_BLOCK_MS
    while (!stopped.aborted) {
      canReturn = false
      const next = iterator.next()
      // `Promise.race` would keep memory for each item until the stop.
      const result = await new Promise<IteratorResult<Item> | 'abandoned'>((resolve, reject) => {
        abandon = () => resolve('abandoned')
        Promise.resolve(next).then(resolve, reject)
      })
      if (result === 'abandoned') {
        // Not awaited: the `return` of a generator waits for its pending `next`.
        void (async () => iterator.return?.())().catch(() => undefined)
        return
      }
      if (typeof result !== 'object') {
        const message = `must have a next() that returns objects, got ${typeName(result)}`
        throw invalidRequestError(caller.operation, [{ path: [caller.argument], message }])
      }
      if (result.done) return
      canReturn = true
      yield read(result.value)
      if (performance.now() < blockEndsAt) continue
      await nextTurn()
      blockEndsAt = performance.now() + MAX_BLOCK_MS
    }
  } finally {
    removeListener()
    if (canReturn) await iterator.return?.()
  }
}

/** @throws InvalidRequestError when an argument other than the options is wrong */
export function requireArguments(operation: string, issues: readonly Issue[]): void {
  if (issues.length > 0) throw invalidRequestError(operation, issues)
}

export const issuesOfClient = (client: unknown, method: string): Issue[] =>
  hasMethod(client, method)
    ? []
    : [{ path: ['client'], message: `must have the method ${method}, got ${typeName(client)}` }]

/** Returns an issue if a value is not iterable. The characters of a string are not a list. */
export function issuesOfList(name: string, list: unknown): Issue[] {
  const isIterable =
    typeof list === 'object' &&
    list !== null &&
    [Symbol.asyncIterator, Symbol.iterator].some((method) => typeof Reflect.get(list, method) === 'function')
  if (isIterable) return []
  return [{ path: [name], message: `must be an iterable or an async iterable, got ${typeName(list)}` }]
}
