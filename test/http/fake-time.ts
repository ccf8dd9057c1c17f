import { vi } from 'vitest'
import { whenIdle } from './real-connections.ts'

/** More timers than one call sets. */
const MOST_TIMERS = 500

/** Runs fake timers until the promise settles. */
export async function settle<T>(
  promise: Promise<T>,
  { timers: most = MOST_TIMERS } = {},
): Promise<PromiseSettledResult<T>> {
  let result: PromiseSettledResult<T> | undefined
  void Promise.allSettled([promise]).then(([settled]) => {
    result = settled
  })
  for (let timers = 0; result === undefined && timers < most; timers++) {
    await whenIdle()
    if (result === undefined) await vi.advanceTimersToNextTimerAsync()
  }
  if (result === undefined) throw new Error(`the promise did not settle within ${most} timers`)
  return result
}

/** Runs fake timers and returns the rejection of the promise. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const result = await settle(promise)
  if (result.status === 'fulfilled') throw new Error('the promise resolved, and should have rejected')
  return result.reason
}

/** Returns the rejection of the promise without advancing fake time. */
export async function immediateRejection(promise: Promise<unknown>): Promise<unknown> {
  let result: PromiseSettledResult<unknown> | undefined
  void Promise.allSettled([promise]).then(([settled]) => {
    result = settled
  })
  await whenIdle()
  await vi.advanceTimersByTimeAsync(0)
  if (result === undefined) throw new Error('the promise has not settled yet')
  if (result.status === 'fulfilled') throw new Error('the promise resolved, and should have rejected')
  return result.reason
}
