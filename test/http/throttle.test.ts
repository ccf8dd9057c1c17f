import { RateLimitError, type RequestLimits } from 'campaign-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../src/http/failure.ts'
import { pauseDelay } from '../../src/http/retry.ts'
import { type Admission, Throttle } from '../../src/http/throttle.ts'
import { TIME_IS_UP } from '../../src/http/timeout.ts'
import { wordsOf } from '../shared/words-of.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const MINUTE = 60_000
const backoff = (nth: number): number => pauseDelay(nth)
const admit = (throttle: Throttle, token: unknown = 'token', tried = 0, ms = MINUTE, signal?: AbortSignal) =>
  throttle.admit(token, tried, ms, signal)

/** Those who have been admitted so far, in order. */
function admitted(waiting: readonly Promise<Admission>[]): number[] {
  const order: number[] = []
  waiting.forEach((each, index) => {
    each.then(
      () => order.push(index),
      () => undefined,
    )
  })
  return order
}

const settled = () => vi.advanceTimersByTimeAsync(0)

describe('maxConcurrency', () => {
  test('lets so many go at once, and the others in their order', async () => {
    const throttle = new Throttle({ maxConcurrency: 2 })
    const waiting = Array.from({ length: 4 }, () => admit(throttle))
    const order = admitted(waiting)
    await settled()
    expect(order).toEqual([0, 1])
    throttle.release(await (waiting[1] as Promise<Admission>))
    await settled()
    expect(order).toEqual([0, 1, 2])
    throttle.release(await (waiting[0] as Promise<Admission>))
    await settled()
    expect(order).toEqual([0, 1, 2, 3])
  })

  test('is shared by all tokens, which take turns', async () => {
    const throttle = new Throttle({ maxConcurrency: 1 })
    const first = await admit(throttle, 'a')
    const waiting = ['a', 'a', 'b', 'b'].map((token) => admit(throttle, token))
    const order = admitted(waiting)
    let current = first
    for (let turn = 1; turn <= 4; turn++) {
      throttle.release(current)
      await settled()
      expect(order).toHaveLength(turn)
      current = await (waiting[order.at(-1) as number] as Promise<Admission>)
    }
    expect(order).toEqual([0, 2, 1, 3])
  })

  test('whoever gives up leaves the line, and takes nobody else with them', async () => {
    const throttle = new Throttle({ maxConcurrency: 1 })
    const first = await admit(throttle)
    const aborter = new AbortController()
    const impatient = admit(throttle, 'token', 0, 50)
    const aborting = admit(throttle, 'token', 0, MINUTE, aborter.signal)
    const last = admit(throttle)
    const ended = [expect(impatient).rejects.toBe(TIME_IS_UP), expect(aborting).rejects.toThrow('enough')]
    aborter.abort(new Error('enough'))
    await vi.advanceTimersByTimeAsync(50)
    await Promise.all(ended)
    throttle.release(first)
    expect(await last).toMatchObject({ token: 'token' })
  })

  test('whoever gives up at the moment of their turn gives the place back', async () => {
    const throttle = new Throttle({ maxConcurrency: 1 })
    const first = await admit(throttle)
    const aborter = new AbortController()
    const aborting = admit(throttle, 'token', 0, MINUTE, aborter.signal).catch(() => 'gave up')
    const last = admit(throttle)
    aborter.signal.addEventListener('abort', () => throttle.release(first))
    aborter.abort()
    expect(await aborting).toBe('gave up')
    expect(await last).toMatchObject({ token: 'token' })
  })
})

describe('requestsPerSecond', () => {
  test('lets one go after the other, evenly', async () => {
    const throttle = new Throttle({ requestsPerSecond: 10 })
    const starts: number[] = []
    const begun = performance.now()
    const all = Array.from({ length: 5 }, async () => {
      throttle.release(await admit(throttle))
      starts.push(performance.now() - begun)
    })
    await vi.advanceTimersByTimeAsync(MINUTE)
    await Promise.all(all)
    expect(starts).toEqual([0, 100, 200, 300, 400])
  })

  test('belongs to a token', async () => {
    const throttle = new Throttle({ requestsPerSecond: 1 })
    await admit(throttle, 'a')
    await admit(throttle, 'b')
    const order = admitted([admit(throttle, 'a')])
    await vi.advanceTimersByTimeAsync(999)
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(order).toEqual([0])
  })

  test('does not save up what was not used', async () => {
    const throttle = new Throttle({ requestsPerSecond: 10 })
    await admit(throttle)
    await vi.advanceTimersByTimeAsync(5_000)
    const order = admitted(Array.from({ length: 3 }, () => admit(throttle)))
    await vi.advanceTimersByTimeAsync(50)
    expect(order).toEqual([0])
    await vi.advanceTimersByTimeAsync(150)
    expect(order).toEqual([0, 1, 2])
  })
})

describe('after a 429', () => {
  async function limited(throttle: Throttle, token = 'token', retryAfterMs = 1_000): Promise<number> {
    const admission = await admit(throttle, token)
    throttle.limited(admission, retryAfterMs, backoff)
    throttle.release(admission)
    return throttle.pauseLeft(token)
  }

  test('every call of the token waits, for as long as the service asks', async () => {
    const throttle = new Throttle()
    expect(await limited(throttle)).toBe(1_000)
    const order = admitted([admit(throttle), admit(throttle)])
    await vi.advanceTimersByTimeAsync(999)
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(order).toEqual([0])
  })

  test('the calls of another token do not', async () => {
    const throttle = new Throttle()
    await limited(throttle, 'a')
    expect(await admit(throttle, 'b')).toMatchObject({ token: 'b' })
  })

  test('they wait without a slot', async () => {
    const throttle = new Throttle({ maxConcurrency: 1 })
    await limited(throttle, 'a')
    const order = admitted([admit(throttle, 'a')])
    throttle.release(await admit(throttle, 'b'))
    expect(order).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(order).toEqual([0])
  })

  test('then one goes after the other, more at once as they succeed, those that were tried first', async () => {
    const throttle = new Throttle()
    const rush = await Promise.all(Array.from({ length: 20 }, () => admit(throttle)))
    for (const each of rush) throttle.limited(each, 1_000, backoff)
    for (const each of rush) throttle.release(each)
    const waiting = [0, 0, 1, 2, 1, 1, 1, 1].map((tried) => admit(throttle, 'token', tried))
    const order = admitted(waiting)
    const succeed = async (index: number) => {
      const admission = await (waiting[index] as Promise<Admission>)
      throttle.accepted(admission)
      throttle.release(admission)
      await settled()
    }
    await vi.advanceTimersByTimeAsync(1_000)
    // Those with the most retries left find out whether the pause was long enough.
    expect(order).toEqual([2])
    await succeed(2)
    expect(order).toEqual([2, 4, 5])
    await succeed(4)
    expect(order).toEqual([2, 4, 5, 6])
    await succeed(5)
    // By now it was: first whoever has the fewest left.
    expect(order).toEqual([2, 4, 5, 6, 3])
    for (const index of [6, 3, 7]) await succeed(index)
    expect(order).toEqual([2, 4, 5, 6, 3, 7, 0, 1])
  })

  test('a pause above 30 s fails those who wait, and those who come, until it is short enough', async () => {
    const throttle = new Throttle({ maxConcurrency: 1 })
    const admission = await admit(throttle)
    const waiting = admit(throttle).catch((reason: unknown) => reason)
    throttle.limited(admission, 60_000, backoff)
    throttle.release(admission)
    for (const failure of [await waiting, await admit(throttle).catch((reason: unknown) => reason)]) {
      expect(failure).toBeInstanceOf(Failure)
      const error = (failure as Failure).toError({ operation: 'rewardWallet', outcome: 'not_applied' })
      expect(error).toBeInstanceOf(RateLimitError)
      expect(error).toMatchObject({ retryAfterMs: 60_000, outcome: 'not_applied' })
      expect(wordsOf(error)).toMatch(/nothing was sent$/)
    }
    await vi.advanceTimersByTimeAsync(30_000)
    const order = admitted([admit(throttle)])
    await vi.advanceTimersByTimeAsync(30_000)
    expect(order).toEqual([0])
  })

  test('where the service asks for nothing, the pauses grow until one is long enough', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(1)
    const throttle = new Throttle()
    const pauses: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      const attempt = admit(throttle, 'token', turn)
      await vi.advanceTimersByTimeAsync(pauses.at(-1) ?? 0)
      const admission = await attempt
      throttle.limited(admission, undefined, backoff)
      throttle.release(admission)
      pauses.push(throttle.pauseLeft('token'))
    }
    expect(pauses).toEqual([300, 600, 1_200, 2_400])
    random.mockRestore()
  })
})

describe('500 awards at once, to a service that takes 50 a second', () => {
  const LATENCY_MS = 20
  const services = {
    'in windows of a second': () => {
      let windowEnds = 0
      let left = 0
      return (now: number): number | undefined => {
        if (now >= windowEnds) {
          windowEnds = now + 1_000
          left = 50
        }
        return left-- > 0 ? undefined : windowEnds - now
      }
    },
    'from a bucket that is filled all the time': () => {
      let level = 50
      let filledAt = 0
      return (now: number): number | undefined => {
        level = Math.min(50, level + ((now - filledAt) * 50) / 1_000)
        filledAt = now
        if (level < 1) return 1_000
        level -= 1
        return undefined
      }
    },
  }

  test.each(
    Object.entries(services).flatMap(([name, service]) => [
      { name, service, told: true, limits: {} },
      { name, service, told: false, limits: {} },
      { name, service, told: true, limits: { maxConcurrency: 16 } },
      { name, service, told: false, limits: { maxConcurrency: 16 } },
    ]),
  )('$name, Retry-After $told, $limits: all succeed, nearly all after two sendings', async (given) => {
    const { service, told, limits } = given
    const throttle = new Throttle(limits as RequestLimits)
    const ask = service()
    const sendings: number[] = []
    const award = async (): Promise<void> => {
      for (let tried = 0; tried < 3; tried++) {
        const admission = await admit(throttle, 'token', tried)
        const waitMs = ask(performance.now())
        await new Promise((resolve) => setTimeout(resolve, LATENCY_MS))
        if (waitMs === undefined) throttle.accepted(admission)
        else throttle.limited(admission, told ? Math.ceil(waitMs / 1_000) * 1_000 : undefined, backoff)
        throttle.release(admission)
        if (waitMs === undefined) {
          sendings.push(tried + 1)
          return
        }
      }
    }
    const all = Promise.all(Array.from({ length: 500 }, award))
    await vi.advanceTimersByTimeAsync(MINUTE)
    await all
    expect(sendings).toHaveLength(500)
    expect(sendings.filter((count) => count > 2).length).toBeLessThan(50)
  })
})
