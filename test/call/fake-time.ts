import type { CampaignError } from 'campaign-client'
import { vi } from 'vitest'
import { whenIdle } from './real-connections.ts'

/** The default limit of `settle`. One call sets fewer timers. */
const MAX_TIMERS = 500

/** Runs fake timers until the promise settles. */
export async function settle<T>(
  promise: Promise<T>,
  { timers: max = MAX_TIMERS } = {},
): Promise<PromiseSettledResult<T>> {
  let result: PromiseSettledResult<T> | undefined
  void Promise.allSettled([promise]).then(([settled]) => {
    result = settled
  })
  for (let timers = 0; result === undefined && timers < max; timers++) {
    await whenIdle()
    if (result === undefined) await vi.advanceTimersToNextTimerAsync()
  }
  if (result === undefined) throw new Error(`the promise did not settle within ${max} timers`)
  return result
}

/** Runs fake timers and returns the rejection of the promise. */
export async function rejection(promise: Promise<unknown>): Promise<CampaignError> {
  const result = await settle(promise)
  if (result.status === 'fulfilled') throw new Error('expected a rejection, but the promise resolved')
  return result.reason
}

/** Returns the rejection of the promise without advancing fake time. */
export async function immediateRejection(promise: Promise<unknown>): Promise<CampaignError> {
  let result: PromiseSettledResult<unknown> | undefined
  void Promise.allSettled([promise]).then(([settled]) => {
    result = settled
  })
  await whenIdle()
  await vi.advanceTimersByTimeAsync(0)
  if (result === undefined) throw new Error('the promise has not settled yet')
  if (result.status === 'fulfilled') throw new Error('expected a rejection, but the promise resolved')
  return result.reason
}
