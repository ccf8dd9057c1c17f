import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RateLimiter, type Slot, TokenLimit } from '../../src/call/rate-limiter.ts'
import { backoffMs, JITTER } from '../../src/call/retry.ts'
import { TIMED_OUT } from '../../src/shared/timers.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const MINUTE = 60_000
const backoff = (nth: number): number => backoffMs(nth, JITTER.ofPause)
/** Rejects with the result if it is not a slot. */
async function admit(queue: RateLimiter, token: unknown = 'token', retry = 0, totalMs = MINUTE, signal?: AbortSignal) {
  const wait = { retry, attemptMs: MINUTE, totalMs, signal, since: undefined, isReady: () => true }
  const result = await queue.admit(token, wait)
  if (result === TIMED_OUT || !('limit' in result)) throw result
  return result
}

/** Returns the indexes of the admitted attempts, in order. */
function admitted(waiting: readonly Promise<Slot>[]): number[] {
  const order: number[] = []
  waiting.forEach((each, index) => {
    each.then(
      () => order.push(index),
      () => undefined,
    )
  })
  return order
}

/** Ends an attempt with a 429. Returns the pause. */
async function limited(queue: RateLimiter, token: unknown = 'token', retryAfterMs = 1_000): Promise<number> {
  const admission = await admit(queue, token)
  queue.record429(admission, retryAfterMs, backoff)
  queue.release(admission)
  return queue.pauseLeft(token)
}

const settled = () => vi.advanceTimersByTimeAsync(0)

describe('maxConcurrency', () => {
  test('starts the allowed number of calls, and queued calls in order', async () => {
    const queue = new RateLimiter({ maxConcurrency: 2 })
    const waiting = Array.from({ length: 4 }, () => admit(queue))
    const order = admitted(waiting)
    await settled()
    expect(order).toEqual([0, 1])
    queue.release(await (waiting[1] as Promise<Slot>))
    await settled()
    expect(order).toEqual([0, 1, 2])
    queue.release(await (waiting[0] as Promise<Slot>))
    await settled()
    expect(order).toEqual([0, 1, 2, 3])
  })

  test('is shared by all tokens, which take turns', async () => {
    const queue = new RateLimiter({ maxConcurrency: 1 })
    const first = await admit(queue, 'a')
    const waiting = ['a', 'a', 'b', 'b'].map((token) => admit(queue, token))
    const order = admitted(waiting)
    let current = first
    for (let turn = 1; turn <= 4; turn++) {
      queue.release(current)
      await settled()
      expect(order).toHaveLength(turn)
      current = await (waiting[order.at(-1) as number] as Promise<Slot>)
    }
    expect(order).toEqual([0, 2, 1, 3])
  })

  test('an aborted call leaves the queue without affecting other calls', async () => {
    const queue = new RateLimiter({ maxConcurrency: 1 })
    const first = await admit(queue)
    const aborter = new AbortController()
    const impatient = admit(queue, 'token', 0, 50)
    const aborting = admit(queue, 'token', 0, MINUTE, aborter.signal)
    const last = admit(queue)
    const ended = [expect(impatient).rejects.toBe(TIMED_OUT), expect(aborting).rejects.toThrow('enough')]
    aborter.abort(new Error('enough'))
    await vi.advanceTimersByTimeAsync(50)
    await Promise.all(ended)
    queue.release(first)
    expect(await last).toBeDefined()
  })

  test('a call that is already aborted is not admitted', async () => {
    await expect(admit(new RateLimiter(), 'token', 0, MINUTE, AbortSignal.abort('enough'))).rejects.toBe('enough')
  })

  test('retries go first, and among them the calls with the fewest retries left', async () => {
    const queue = new RateLimiter({ maxConcurrency: 1 })
    let current = await admit(queue)
    for (let answers = 0; answers < 3; answers++) queue.recordResponse(current)
    const waiting = [0, 1, 2].map((tried) => admit(queue, 'token', tried))
    const order = admitted(waiting)
    for (const next of [2, 1, 0]) {
      queue.release(current)
      current = await (waiting[next] as Promise<Slot>)
    }
    expect(order).toEqual([2, 1, 0])
  })

  test('a call aborted just as it is admitted releases its slot', async () => {
    const queue = new RateLimiter({ maxConcurrency: 1 })
    const first = await admit(queue)
    const aborter = new AbortController()
    const aborting = admit(queue, 'token', 0, MINUTE, aborter.signal).catch(() => 'aborted')
    const last = admit(queue)
    aborter.signal.addEventListener('abort', () => queue.release(first))
    aborter.abort()
    expect(await aborting).toBe('aborted')
    expect(await last).toBeDefined()
  })
})

describe('requestsPerSecond', () => {
  test('spaces calls evenly', async () => {
    const queue = new RateLimiter({ requestsPerSecond: 10 })
    const starts: number[] = []
    const begun = performance.now()
    const all = Array.from({ length: 5 }, async () => {
      queue.release(await admit(queue))
      starts.push(performance.now() - begun)
    })
    await vi.advanceTimersByTimeAsync(MINUTE)
    await Promise.all(all)
    expect(starts).toEqual([0, 100, 200, 300, 400])
  })

  test('applies to each token', async () => {
    const queue = new RateLimiter({ requestsPerSecond: 1 })
    await admit(queue, 'a')
    await admit(queue, 'b')
    const order = admitted([admit(queue, 'a')])
    await vi.advanceTimersByTimeAsync(999)
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(order).toEqual([0])
  })

  test('late timers do not lower the rate', () => {
    const limiter = new TokenLimit(100)
    let now = 0
    for (let sent = 0; sent < 10; sent++) {
      limiter.start(now, MINUTE)
      now = limiter.nextStart(now) + 5
    }
    expect(now).toBe(105)
  })

  test('does not accumulate unused starts', async () => {
    const queue = new RateLimiter({ requestsPerSecond: 10 })
    await admit(queue)
    await vi.advanceTimersByTimeAsync(5_000)
    const order = admitted(Array.from({ length: 3 }, () => admit(queue)))
    await vi.advanceTimersByTimeAsync(50)
    expect(order).toEqual([0])
    await vi.advanceTimersByTimeAsync(150)
    expect(order).toEqual([0, 1, 2])
  })
})

describe('after a 429', () => {
  test('all calls of the token wait as long as the service asks', async () => {
    const queue = new RateLimiter()
    expect(await limited(queue)).toBe(1_000)
    const order = admitted([admit(queue), admit(queue)])
    await vi.advanceTimersByTimeAsync(999)
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(order).toEqual([0])
  })

  test('calls of another token do not wait', async () => {
    const queue = new RateLimiter()
    await limited(queue, 'a')
    expect(await admit(queue, 'b')).toBeDefined()
  })

  test('waiting calls use no slot', async () => {
    const queue = new RateLimiter({ maxConcurrency: 1 })
    await limited(queue, 'a')
    const order = admitted([admit(queue, 'a')])
    queue.release(await admit(queue, 'b'))
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(order).toEqual([0])
  })

  test('first one call is admitted, then more after each success, and retries before new calls', async () => {
    const queue = new RateLimiter()
    const inFlight = await Promise.all(Array.from({ length: 20 }, () => admit(queue)))
    for (const each of inFlight) queue.record429(each, 1_000, backoff)
    for (const each of inFlight) queue.release(each)
    const waiting = [0, 0, 1, 2, 1, 1, 1, 1].map((tried) => admit(queue, 'token', tried))
    const order = admitted(waiting)
    const succeed = async (index: number) => {
      const admission = await (waiting[index] as Promise<Slot>)
      queue.recordResponse(admission)
      queue.release(admission)
      await settled()
    }
    await vi.advanceTimersByTimeAsync(1_000)
    // While a 429 is likely, the retries with the most attempts left go first.
    expect(order).toEqual([2])
    await succeed(2)
    expect(order).toEqual([2, 4, 5])
    await succeed(4)
    await succeed(5)
    // After successes, the retries with the fewest attempts left go first.
    expect(order).toEqual([2, 4, 5, 6, 7, 3, 0])
    await succeed(6)
    expect(order).toEqual([2, 4, 5, 6, 7, 3, 0, 1])
  })

  test.each([31_000, 60_000, Number.MAX_SAFE_INTEGER])(
    'a Retry-After of %i ms fails all calls for 30 s, then one call is admitted alone',
    async (retryAfterMs) => {
      const queue = new RateLimiter()
      const admission = await admit(queue)
      // A second attempt is in flight.
      const waiting = [admit(queue, 'token')]
      await settled()
      queue.record429(admission, retryAfterMs, backoff)
      queue.release(admission)
      queue.release(await (waiting[0] as Promise<Slot>))
      const expectRefusal = async () => {
        const failure = await admit(queue).catch((reason: unknown) => reason)
        expect(failure).toEqual({ retryAfterMs })
      }
      await expectRefusal()
      await vi.advanceTimersByTimeAsync(29_999)
      await expectRefusal()
      await vi.advanceTimersByTimeAsync(1)
      const others = [0, 0, 0].map(() => admit(queue))
      const order = admitted(others)
      await settled()
      expect(order).toEqual([0])
      const probe = await (others[0] as Promise<Slot>)
      queue.recordResponse(probe)
      queue.release(probe)
      await settled()
      expect(order).toEqual([0, 1, 2])
    },
  )

  test('a long Retry-After fails the calls that wait at that moment', async () => {
    const queue = new RateLimiter({ maxConcurrency: 1 })
    const admission = await admit(queue)
    const waiting = admit(queue).catch((reason: unknown) => reason)
    queue.record429(admission, 60_000, backoff)
    expect(await waiting).toEqual({ retryAfterMs: 60_000 })
  })

  test('an attempt sent before the pause does not end or shorten it', async () => {
    const queue = new RateLimiter()
    const [first, second, third] = await Promise.all([admit(queue), admit(queue), admit(queue)])
    queue.record429(first, 5_000, backoff)
    queue.recordResponse(second)
    queue.record429(third, 1_000, backoff)
    for (const each of [first, second, third]) queue.release(each)
    expect(queue.pauseLeft('token')).toBe(5_000)
    const order = admitted([admit(queue), admit(queue)])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(order).toEqual([0])
  })

  test('a later 429 of an attempt sent before the pause can extend it', async () => {
    const queue = new RateLimiter()
    const [first, second] = await Promise.all([admit(queue), admit(queue)])
    queue.record429(first, 1_000, backoff)
    queue.record429(second, 7_000, backoff)
    expect(queue.pauseLeft('token')).toBe(7_000)
  })

  test('the backoff restarts when no call waits', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(1)
    const queue = new RateLimiter()
    const oneCall = async (isLimited: boolean): Promise<number> => {
      const attempt = admit(queue)
      await vi.advanceTimersByTimeAsync(queue.pauseLeft('token'))
      const admission = await attempt
      if (isLimited) queue.record429(admission, undefined, backoff)
      else queue.recordResponse(admission)
      queue.release(admission)
      return queue.pauseLeft('token')
    }
    expect([await oneCall(true), await oneCall(true), await oneCall(true)]).toEqual([300, 600, 1_200])
    await oneCall(false)
    expect([await oneCall(true), await oneCall(true)]).toEqual([300, 600])
    random.mockRestore()
  })

  test('the pause of a token continues while many other tokens are used', async () => {
    const queue = new RateLimiter()
    await limited(queue, 'paused', 20_000)
    for (let other = 0; other < 1_000; other++) queue.release(await admit(queue, `other-${other}`))
    expect(queue.pauseLeft('paused')).toBe(20_000)
    const order = admitted([admit(queue, 'paused')])
    for (let other = 0; other < 1_000; other++) queue.release(await admit(queue, `another-${other}`))
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(20_000)
    expect(order).toEqual([0])
  })

  test('each of many paused tokens continues at the end of its own pause', async () => {
    const queue = new RateLimiter()
    const pauses = Array.from({ length: 300 }, (_, index) => 1_000 + ((index * 37) % 300) * 10)
    for (const [index, ms] of pauses.entries()) await limited(queue, index, ms)
    const endedAt: number[] = []
    const start = performance.now()
    const calls = pauses.map(async (_, index) => {
      const admission = await admit(queue, index)
      endedAt[index] = performance.now() - start
      queue.recordResponse(admission)
      queue.release(admission)
    })
    await vi.advanceTimersByTimeAsync(10_000)
    await Promise.all(calls)
    expect(endedAt).toEqual(pauses)
  })

  test('a busy client slowly reaches a higher concurrency again', async () => {
    const queue = new RateLimiter()
    const [first, second] = await Promise.all([admit(queue), admit(queue)])
    queue.recordResponse(first)
    queue.record429(second, 1_000, backoff)
    for (const each of [first, second]) queue.release(each)
    let inFlight = 0
    let maxInFlight = 0
    const calls = Array.from({ length: 300 }, async () => {
      const admission = await admit(queue)
      maxInFlight = Math.max(maxInFlight, ++inFlight)
      await new Promise((resolve) => setTimeout(resolve, 10))
      inFlight--
      queue.recordResponse(admission)
      queue.release(admission)
    })
    await vi.advanceTimersByTimeAsync(1_000 + 20 * 10)
    expect(maxInFlight).toBe(1)
    await vi.advanceTimersByTimeAsync(MINUTE)
    await Promise.all(calls)
    expect(maxInFlight).toBeGreaterThan(1)
    expect(maxInFlight).toBeLessThan(5)
  })

  test('concurrency quickly grows to half of its earlier value, then slowly', async () => {
    const queue = new RateLimiter()
    const [limited, ...answered] = await Promise.all(Array.from({ length: 9 }, () => admit(queue)))
    for (const each of answered) queue.recordResponse(each)
    queue.record429(limited as Slot, 1_000, backoff)
    for (const each of [limited as Slot, ...answered]) queue.release(each)
    let inFlight: Slot[] = []
    for (let call = 0; call < 20; call++) void admit(queue).then((admission) => inFlight.push(admission))
    const concurrency: number[] = []
    await vi.advanceTimersByTimeAsync(1_000)
    for (let round = 0; round < 5; round++) {
      const ending = inFlight
      inFlight = []
      concurrency.push(ending.length)
      for (const each of ending) queue.recordResponse(each)
      for (const each of ending) queue.release(each)
      await settled()
    }
    expect(concurrency).toEqual([1, 2, 4, 4, 4])
  })

  test('concurrency is limited until all attempts have ended', async () => {
    const queue = new RateLimiter()
    await limited(queue)
    const probe = admit(queue)
    await vi.advanceTimersByTimeAsync(1_000)
    queue.recordResponse(await probe)
    const other = await admit(queue)
    queue.release(await probe)
    const order = admitted([admit(queue), admit(queue)])
    await settled()
    expect(order).toEqual([0])
    queue.release(other)
    await settled()
    expect(order).toEqual([0, 1])
  })

  test('without Retry-After, a pause does not grow after a pause that was long enough', () => {
    const limiter = new TokenLimit()
    const steps: number[] = []
    const backoffOf = (nth: number): number => steps.push(nth)
    for (let pause = 0; pause < 3; pause++) {
      const [first, second] = [limiter.start(0, MINUTE), limiter.start(0, MINUTE)]
      limiter.recordResponse(first.epoch)
      limiter.record429(second.epoch, 0, undefined, backoffOf)
    }
    expect(steps).toEqual([1, 1, 1])
  })

  test('a 429 is likely until the third response, and again after half as many responses as before the last 429', () => {
    const limiter = new TokenLimit()
    for (let earlier = 0; earlier < 20; earlier++) limiter.recordResponse(limiter.start(0, MINUTE).epoch)
    expect(limiter.isRisky).toBe(false)
    limiter.record429(limiter.start(0, MINUTE).epoch, 0, 1_000, backoff)
    const risky: number[] = []
    for (let answers = 0; answers <= 10; answers++) {
      const slot = limiter.start(0, MINUTE)
      if (limiter.isRisky) risky.push(answers)
      limiter.recordResponse(slot.epoch)
      limiter.end(slot, 0)
    }
    expect(risky).toEqual([0, 1, 2, 9, 10])
  })
})

describe('after calls that were abandoned, as in Workers at the end of a request', () => {
  /** Runs `start`, whose timers never fire. */
  function abandoned<T>(start: () => T): T {
    const { setTimeout } = globalThis
    globalThis.setTimeout = (() => 0) as never
    try {
      return start()
    } finally {
      globalThis.setTimeout = setTimeout
    }
  }

  test('a call does not wait for an abandoned retry in the queue', async () => {
    const queue = new RateLimiter()
    await limited(queue, 'token', 2_000)
    void abandoned(() => admit(queue, 'token', 1))
    const order = admitted([admit(queue), admit(queue)])
    await vi.advanceTimersByTimeAsync(1_999)
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(order).toEqual([0])
  })

  test('a call waits at most a second for an abandoned retry that comes just before it', async () => {
    const queue = new RateLimiter()
    await limited(queue, 'token', 100)
    void abandoned(() => admit(queue, 'token', 1))
    const order = admitted([admit(queue)])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(order).toEqual([0])
  })

  test('a call is admitted at once if the abandoned attempts are old', async () => {
    const queue = new RateLimiter({ maxConcurrency: 2 })
    await Promise.all([admit(queue), admit(queue)])
    void abandoned(() => admit(queue))
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(queue.tryAdmit('token', MINUTE)).toBeDefined()
  })

  test.each([{ maxConcurrency: 2 }, { maxConcurrency: 2, requestsPerSecond: 100 }])(
    'the slots of %o are free at the end of the time limit of their attempts',
    async (limits) => {
      const queue = new RateLimiter(limits)
      for (const attemptMs of [5_000, 10_000]) {
        queue.tryAdmit('token', attemptMs)
        await vi.advanceTimersByTimeAsync(10)
      }
      const order = admitted(Array.from({ length: 3 }, () => admit(queue)))
      await vi.advanceTimersByTimeAsync(4_500)
      expect(order).toEqual([])
      await vi.advanceTimersByTimeAsync(1_000)
      expect(order).toEqual([0])
      await vi.advanceTimersByTimeAsync(5_000)
      expect(order).toEqual([0, 1])
    },
  )

  test('the next call is the probe once the time limit of an abandoned probe is over', async () => {
    const queue = new RateLimiter()
    await limited(queue, 'token', 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queue.tryAdmit('token', 10_000)).toBeDefined()
    const order = admitted([admit(queue), admit(queue)])
    await vi.advanceTimersByTimeAsync(9_749)
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(251)
    expect(order).toEqual([0])
  })

  test('concurrency is no longer limited once all attempts have ended', async () => {
    const queue = new RateLimiter()
    await limited(queue, 'token', 1_000)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queue.tryAdmit('token', 10_000)).toBeDefined()
    await vi.advanceTimersByTimeAsync(10_000)
    const probe = await admit(queue)
    queue.recordResponse(probe)
    queue.release(probe)
    const order = admitted(Array.from({ length: 9 }, () => admit(queue)))
    await settled()
    expect(order).toHaveLength(9)
  })

  test('a slot that is released after its time limit frees no other slot', async () => {
    const queue = new RateLimiter({ maxConcurrency: 1 })
    const slow = queue.tryAdmit('token', 1_000) as Slot
    await vi.advanceTimersByTimeAsync(1_000)
    expect(queue.tryAdmit('token', MINUTE)).toBeDefined()
    queue.release(slow)
    expect(queue.tryAdmit('token', MINUTE)).toBeUndefined()
  })
})

test('an attempt that is not ready gets no slot, and later its place back', async () => {
  const queue = new RateLimiter({ maxConcurrency: 1, requestsPerSecond: 1 })
  const first = await admit(queue)
  const wait = {
    retry: 0,
    attemptMs: MINUTE,
    totalMs: MINUTE,
    signal: undefined,
    since: undefined,
    isReady: () => false,
  }
  const early = queue.admit('token', wait)
  await vi.advanceTimersByTimeAsync(1)
  const others = [admit(queue), admit(queue)]
  const order = admitted(others)
  await vi.advanceTimersByTimeAsync(2_000)
  queue.release(first)
  await settled()
  const notReady = await early
  expect(notReady).not.toHaveProperty('limit')
  expect(order).toEqual([0])
  queue.release(await (others[0] as Promise<Slot>))
  const { since } = notReady as { since: number }
  const returned = queue.admit('token', { ...wait, since, isReady: () => true }) as Promise<Slot>
  const next = admitted([others[1] as Promise<Slot>, returned])
  await vi.advanceTimersByTimeAsync(1_000)
  queue.release(await returned)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(next).toEqual([1, 0])
})

test('a call that becomes the first in the queue after an abort starts in time', async () => {
  const queue = new RateLimiter({ requestsPerSecond: 5 })
  await admit(queue)
  const aborter = new AbortController()
  const first = admit(queue, 'token', 0, MINUTE, aborter.signal).catch(() => 'aborted')
  const order = admitted([admit(queue)])
  await vi.advanceTimersByTimeAsync(10)
  aborter.abort()
  expect(await first).toBe('aborted')
  await vi.advanceTimersByTimeAsync(189)
  expect(order).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(order).toEqual([0])
})

test('the queues of tokens that are no longer used are removed', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const queue = new RateLimiter()
  const tokens: WeakRef<object>[] = []
  for (let client = 0; client < 300; client++) {
    const token = {}
    tokens.push(new WeakRef(token))
    queue.release(await admit(queue, token))
  }
  // A WeakRef keeps its object alive until the end of the turn in which it is created.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  expect(tokens.filter((token) => token.deref() !== undefined).length).toBeLessThanOrEqual(100)
})

test('a rate limiter is idle after its attempts, their interval and its pause', () => {
  const limiter = new TokenLimit(2)
  expect(limiter.isIdle(0)).toBe(true)
  const first = limiter.start(0, MINUTE)
  expect(limiter.isIdle(500)).toBe(false)
  limiter.end(first, 0)
  expect([limiter.isIdle(499), limiter.isIdle(500)]).toEqual([false, true])
  const second = limiter.start(500, MINUTE)
  limiter.record429(second.epoch, 500, 5_000, () => 0)
  limiter.end(second, 500)
  expect([limiter.isIdle(5_499), limiter.isIdle(5_500)]).toEqual([false, true])
})
