import { vi } from 'vitest'
import { allQuiet } from './real-connections.ts'

/** Far more timers than one call sets. */
const MOST_TIMERS = 500

/** Lets faked time run from timer to timer until the promise settles. */
export async function settle<T>(
  promise: Promise<T>,
  { timers: most = MOST_TIMERS } = {},
): Promise<PromiseSettledResult<T>> {
  let result: PromiseSettledResult<T> | undefined
  void Promise.allSettled([promise]).then(([settled]) => {
    result = settled
  })
  for (let timers = 0; result === undefined && timers < most; timers++) {
    await allQuiet()
    if (result === undefined) await vi.advanceTimersToNextTimerAsync()
  }
  if (result === undefined) throw new Error(`the promise did not settle within ${most} timers`)
  return result
}

/** What the promise rejects with, in faked time. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const result = await settle(promise)
  if (result.status === 'fulfilled') throw new Error('the promise resolved, and should have rejected')
  return result.reason
}

/** What the promise rejects with, at once: faked time stands still. */
export async function immediateRejection(promise: Promise<unknown>): Promise<unknown> {
  let result: PromiseSettledResult<unknown> | undefined
  void Promise.allSettled([promise]).then(([settled]) => {
    result = settled
  })
  await allQuiet()
  await vi.advanceTimersByTimeAsync(0)
  if (result === undefined) throw new Error('the promise has not settled yet')
  if (result.status === 'fulfilled') throw new Error('the promise resolved, and should have rejected')
  return result.reason
}
