import { BadRequestError, NetworkError, RateLimitError } from 'campaign-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CallOutcome, outcomeOf } from '../../src/bulk/attempt.ts'
import { Pacer } from '../../src/bulk/pacing.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const init = { status: 400, headers: {}, outcome: 'not_applied' } as const
const DONE: CallOutcome = { kind: 'done', maybeApplied: false }
const REFUSED = outcomeOf(new BadRequestError('no', init))
const UNREACHABLE = outcomeOf(new NetworkError('lost', { outcome: 'not_applied' }))
const rateLimited = (retryAfterMs?: number) => outcomeOf(new RateLimitError('wait', { ...init, retryAfterMs }))

/** Returns a pacer whose calls wait for `end`, and the names of the calls that it has sent. */
function pacedCalls({ concurrency = 100, patienceMs = 0 } = {}) {
  const sent: string[] = []
  const open = new Map<string, (outcome: CallOutcome | undefined) => void>()
  const stop = vi.fn(() => pacer.stop())
  const pacer = new Pacer({ concurrency, patienceMs, stopRun: stop })
  const call = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      void pacer.call(async () => {
        sent.push(name)
        return { outcome: await new Promise<CallOutcome | undefined>((resolve) => open.set(name, resolve)) }
      })
    }
    await vi.advanceTimersByTimeAsync(0)
  }
  const end = async (name: string, outcome: CallOutcome | undefined): Promise<void> => {
    open.get(name)?.(outcome)
    await vi.advanceTimersByTimeAsync(0)
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  const pauseLeftMs = () => pacer.waiting?.nextAttemptMs ?? 0
  return { pacer, stop, sent, call, end, pass, pauseLeftMs }
}

test('at most `concurrency` calls are in flight', async () => {
  const { sent, call, end } = pacedCalls({ concurrency: 2 })
  await call('a', 'b', 'c', 'd')
  expect(sent).toEqual(['a', 'b'])
  await end('b', DONE)
  expect(sent).toEqual(['a', 'b', 'c'])
})

test('after a pause, one call is the probe, and the others are sent after its response', async () => {
  const { sent, call, end, pass, pauseLeftMs } = pacedCalls()
  await call('first')
  await end('first', rateLimited(100))
  expect(pauseLeftMs()).toBe(100)
  await call('a', 'b')
  await pass(99)
  expect(pauseLeftMs()).toBe(1)
  expect(sent).toEqual(['first'])
  await pass(1)
  await call('c')
  await pass(1_000)
  expect(sent).toEqual(['first', 'a'])
  expect(pauseLeftMs()).toBe(0)
  await end('a', REFUSED)
  expect(sent).toEqual(['first', 'a', 'b', 'c'])
  await call('d')
  expect(sent.at(-1)).toBe('d')
})

test('the response to a call from before the pause does not end the pause', async () => {
  const { sent, call, end, pass } = pacedCalls()
  await call('first', 'second', 'third')
  await end('first', rateLimited(100))
  await end('second', DONE)
  await call('a', 'b')
  await pass(99)
  expect(sent).toHaveLength(3)
  await pass(1)
  await end('third', DONE)
  expect(sent.slice(3)).toEqual(['a'])
})

test('the next call becomes the probe if the probe sent nothing', async () => {
  const { sent, call, end, pass } = pacedCalls()
  await call('first')
  await end('first', rateLimited(100))
  await call('a', 'b', 'c')
  await pass(100)
  await end('a', undefined)
  expect(sent).toEqual(['first', 'a', 'b'])
})

test('a call from before a pause can extend the pause, but not shorten it or start another one', async () => {
  const { sent, call, end, pass, pauseLeftMs } = pacedCalls()
  await call('first', 'second', 'third', 'fourth')
  await end('first', rateLimited(100))
  await end('second', rateLimited(50))
  expect(pauseLeftMs()).toBe(100)
  await end('third', rateLimited(200))
  expect(pauseLeftMs()).toBe(200)
  await call('a')
  await pass(200)
  expect(sent.at(-1)).toBe('a')
  await end('fourth', rateLimited(200))
  expect(pauseLeftMs()).toBe(0)
})

test('a probe with a 429 starts another pause, which may be shorter', async () => {
  const { sent, call, end, pass, pauseLeftMs } = pacedCalls()
  await call('first')
  await end('first', rateLimited(100))
  await call('a', 'b')
  await pass(100)
  await end('a', rateLimited(10))
  expect(pauseLeftMs()).toBe(10)
  await pass(10)
  expect(sent).toEqual(['first', 'a', 'b'])
})

test('without patience, three consecutive calls without a response start a pause, and the third pause is the last', async () => {
  const { stop, sent, call, end, pass, pauseLeftMs } = pacedCalls()
  await call('1', '2')
  await end('1', UNREACHABLE)
  await end('2', DONE)
  await call('3', '4', '5')
  await end('3', UNREACHABLE)
  await end('4', UNREACHABLE)
  expect(pauseLeftMs()).toBe(0)
  await end('5', UNREACHABLE)
  await call('a', 'b', 'c', 'd')
  for (const [name, pauseMs] of [
    ['a', 250],
    ['b', 500],
    ['c', 1_000],
  ] as const) {
    expect(pauseLeftMs()).toBe(pauseMs)
    await pass(pauseMs)
    expect(sent.at(-1)).toBe(name)
    expect(stop).not.toHaveBeenCalled()
    await end(name, UNREACHABLE)
  }
  expect(stop).toHaveBeenCalledExactlyOnceWith("the service can't be reached", UNREACHABLE.error)
  // A stop ends the pause.
  expect(sent.at(-1)).toBe('d')
})

test('before the first response, patience has no effect', async () => {
  const { pacer, stop, call, end, pass } = pacedCalls({ patienceMs: 60_000 })
  await call('1', '2', '3', 'a', 'b', 'c')
  for (const name of ['1', '2', '3']) await end(name, UNREACHABLE)
  expect(pacer.waiting).toEqual({ for: 'outage', sinceMs: 0, nextAttemptMs: 250, givesUpMs: 1_750 })
  await call('d', 'e', 'f')
  for (const [name, pauseMs] of [
    ['d', 250],
    ['e', 500],
    ['f', 1_000],
  ] as const) {
    await pass(pauseMs)
    await end(name, UNREACHABLE)
  }
  expect(stop).toHaveBeenCalledExactlyOnceWith("the service can't be reached", UNREACHABLE.error)
  expect(pacer.waiting).toBeNull()
})

test('after a response, pauses double up to 15 s, and the run stops when its patience ends', async () => {
  const { pacer, stop, call, end, pass } = pacedCalls({ patienceMs: 60_000 })
  await call('first')
  await end('first', REFUSED)
  await pass(10_000)
  await call('1', '2')
  await pass(5_000)
  await end('1', UNREACHABLE)
  await end('2', UNREACHABLE)
  expect(pacer.waiting).toBeNull()
  await call('3')
  await end('3', UNREACHABLE)
  // The run has sent nothing in the ten seconds after the response.
  expect(pacer.waiting).toEqual({ for: 'outage', sinceMs: 5_000, nextAttemptMs: 250, givesUpMs: 55_000 })
  let leftMs = 55_000
  for (const pauseMs of [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 9_250]) {
    expect(stop).not.toHaveBeenCalled()
    expect(pacer.waiting).toMatchObject({ nextAttemptMs: pauseMs, givesUpMs: leftMs })
    await call(`probe ${leftMs}`)
    await pass(pauseMs)
    expect(pacer.waiting).toMatchObject({ nextAttemptMs: 0, givesUpMs: leftMs - pauseMs })
    await end(`probe ${leftMs}`, UNREACHABLE)
    leftMs -= pauseMs
  }
  expect(leftMs).toBe(0)
  expect(stop).toHaveBeenCalledExactlyOnceWith("the service can't be reached", UNREACHABLE.error)
})

test.each([
  ['a refusal', REFUSED],
  ['a 429', rateLimited(100)],
])('%s ends an outage, and the next outage has its own patience', async (_, response) => {
  const { pacer, stop, call, end, pass, pauseLeftMs } = pacedCalls({ patienceMs: 3_000 })
  await call('first')
  await end('first', DONE)
  const fail = async (name: string): Promise<void> => {
    await call(name)
    await pass(pauseLeftMs())
    await end(name, UNREACHABLE)
  }
  for (const name of ['1', '2', '3', '4', '5', '6']) await fail(name)
  expect(pacer.waiting).toEqual({ for: 'outage', sinceMs: 1_750, nextAttemptMs: 1_250, givesUpMs: 1_250 })
  await call('answered')
  await pass(1_250)
  await end('answered', response)
  expect(pacer.waiting?.for).not.toBe('outage')
  for (const name of ['7', '8', '9', '10', '11', '12']) await fail(name)
  expect(pacer.waiting).toMatchObject({ nextAttemptMs: 1_250, givesUpMs: 1_250 })
  expect(stop).not.toHaveBeenCalled()
  await fail('last')
  expect(stop).toHaveBeenCalledOnce()
})

test('a short patience never means fewer than three pauses', async () => {
  const { pacer, stop, call, end, pass, pauseLeftMs } = pacedCalls({ patienceMs: 1 })
  await call('first')
  await end('first', DONE)
  for (const name of ['1', '2', '3', 'a', 'b']) {
    await call(name)
    await pass(pauseLeftMs())
    await end(name, UNREACHABLE)
  }
  expect(pacer.waiting).toEqual({ for: 'outage', sinceMs: 750, nextAttemptMs: 1_000, givesUpMs: 1_000 })
  expect(stop).not.toHaveBeenCalled()
})

test('a stop ends a pause, and later calls do not pause', async () => {
  const { pacer, sent, call, end, pauseLeftMs } = pacedCalls()
  await call('first', 'second')
  await end('first', rateLimited(60_000))
  await call('a', 'b')
  pacer.stop()
  await call('c')
  expect(sent).toEqual(['first', 'second', 'a', 'b', 'c'])
  await end('second', rateLimited(60_000))
  await end('a', rateLimited(60_000))
  expect(pauseLeftMs()).toBe(0)
  await call('d')
  expect(sent.at(-1)).toBe('d')
})

describe('429s without another response between them', () => {
  /** Ends probe after probe with the response, until the pacer stops. @returns the pauses */
  async function pausesUntilStop(response: CallOutcome, { patienceMs = 120_000, callMs = 0 } = {}) {
    const { pacer, stop, call, end, pass, pauseLeftMs } = pacedCalls({ patienceMs })
    const pauses: number[] = []
    for (let nth = 0; stop.mock.calls.length === 0 && nth < 50; nth++) {
      await call(`${nth}`)
      await pass(callMs)
      await end(`${nth}`, response)
      if (stop.mock.calls.length > 0) break
      pauses.push(pauseLeftMs())
      expect(pacer.waiting?.for).toBe('rate_limit')
      await pass(pauseLeftMs())
    }
    return { pauses, stop }
  }

  test('double the pause up to 30 s, and stop the calls after the patience', async () => {
    const { pauses, stop } = await pausesUntilStop(rateLimited())
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 28_250])
    expect(stop).toHaveBeenCalledExactlyOnceWith(
      'the service has responded with 429 for 120 s',
      expect.any(RateLimitError),
    )
  })

  test('stop the calls after three pauses without patience', async () => {
    expect((await pausesUntilStop(rateLimited(), { patienceMs: 0 })).pauses).toEqual([250, 500, 1_000])
  })

  test('with Retry-After: the time that it asks for does not use up the patience', async () => {
    const { pauses } = await pausesUntilStop(rateLimited(60_000), { patienceMs: 10_000, callMs: 1_000 })
    expect(pauses).toEqual(Array(10).fill(60_000))
  })

  test.each([0, -5])('with a Retry-After of %i ms: it counts as absent', async (retryAfterMs) => {
    const { pauses } = await pausesUntilStop(rateLimited(retryAfterMs), { patienceMs: 1_000 })
    expect(pauses).toEqual([250, 500, 1_000])
  })

  test('tell how long the calls wait, also while the next attempt is in progress', async () => {
    const { pacer, call, end, pass } = pacedCalls({ patienceMs: 60_000 })
    await call('1', '2', '3')
    await end('1', rateLimited(10_000))
    expect(pacer.waiting).toEqual({ for: 'rate_limit', sinceMs: 0, nextAttemptMs: 10_000, givesUpMs: 70_000 })
    await pass(4_000)
    // A response to a call from before the pause extends the pause, and what the service has asked for.
    await end('2', rateLimited(10_000))
    expect(pacer.waiting).toEqual({ for: 'rate_limit', sinceMs: 4_000, nextAttemptMs: 10_000, givesUpMs: 70_000 })
    await pass(10_000)
    await call('probe')
    expect(pacer.waiting).toEqual({ for: 'rate_limit', sinceMs: 14_000, nextAttemptMs: 0, givesUpMs: 60_000 })
    await end('probe', REFUSED)
    expect(pacer.waiting).toBeNull()
  })
})

test('a call that throws lets the next call be the probe', async () => {
  const { pacer, sent, call, end, pass } = pacedCalls()
  await call('first')
  await end('first', rateLimited(100))
  const failing = pacer.call(() => Promise.reject(new Error('a bug'))).catch(() => undefined)
  await call('a')
  await pass(100)
  await failing
  expect(sent).toEqual(['first', 'a'])
})
