import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

describe('createManualClock', () => {
  test('stands still until it is moved', async () => {
    const clock = createManualClock({ startMs: 1000 })
    expect(clock.now()).toBe(1000)
    await clock.advance(0)
    expect(clock.now()).toBe(1000)
    await clock.advance(250)
    expect(clock.now()).toBe(1250)
  })

  test('runs timers in order, each at its own time, those set on the way included', async () => {
    const clock = createManualClock({ startMs: 0 })
    const seen: string[] = []
    const note = (name: string) => () => seen.push(`${name}@${clock.now()}`)
    clock.setTimeout(note('c'), 30)
    clock.setTimeout(note('a'), 10)
    clock.setTimeout(note('b'), 10)
    clock.setTimeout(() => {
      note('d')()
      clock.setTimeout(note('e'), 5)
      clock.setTimeout(note('late'), 6)
    }, 35)
    await clock.advance(40)
    expect(seen).toEqual(['a@10', 'b@10', 'c@30', 'd@35', 'e@40'])
    expect(clock.now()).toBe(40)
    expect(clock.pending).toBe(1)
  })

  test('a forgotten timer does not run; forgetting twice, or something else, does nothing', async () => {
    const clock = createManualClock()
    let ran = false
    const timer = clock.setTimeout(() => {
      ran = true
    }, 1)
    clock.clearTimeout(timer)
    clock.clearTimeout(timer)
    clock.clearTimeout(undefined)
    await clock.advance(10)
    expect(ran).toBe(false)
  })

  test('waits for tracked work before it moves on, and goes on without work that hangs', async () => {
    const clock = createManualClock({ startMs: 0, patienceMs: 20 })
    const order: string[] = []
    clock.track?.(
      new Promise((resolve) => setTimeout(resolve, 5)).then(() => {
        order.push('work')
      }),
    )
    clock.setTimeout(() => order.push('timer'), 10)
    await clock.advance(10)
    expect(order).toEqual(['work', 'timer'])

    clock.track?.(Promise.reject(new Error('failed work is done, too')))
    clock.track?.(new Promise(() => {}))
    clock.setTimeout(() => order.push('later'), 10)
    await clock.advance(10)
    expect(order).toEqual(['work', 'timer', 'later'])
  })

  test('advances to a time; one that has passed moves nothing', async () => {
    const clock = createManualClock({ startMs: 1000 })
    let ranAt = 0
    clock.setTimeout(() => {
      ranAt = clock.now()
    }, 500)
    await clock.advanceTo(1499)
    expect([clock.now(), ranAt]).toEqual([1499, 0])
    await clock.advanceTo(1500)
    expect([clock.now(), ranAt]).toEqual([1500, 1500])
    await clock.advanceTo(3)
    expect(clock.now()).toBe(1500)
    await expect(clock.advanceTo(Number.NaN)).rejects.toThrow(RangeError)
    await expect(clock.advanceTo('soon' as never)).rejects.toThrow(TypeError)
  })

  test('with nextRetryAt it goes from retry to retry', async () => {
    const clock = createManualClock({ startMs: 0 })
    const service = createCampaignService({ clock, deliver: () => new Response(null, { status: 503 }) })
    service.registerWebhook({ url: 'https://partner.example/hook' })
    service.emit({ kind: 'custom', payload: {} })
    await service.settle()
    const times: (number | undefined)[] = []
    for (let next = service.nextRetryAt; next !== undefined; next = service.nextRetryAt) {
      times.push(next)
      await clock.advanceTo(next)
    }
    expect(times).toEqual([5_000, 35_000, 95_000, 395_000])
    expect(service.deliveries).toMatchObject([{ state: 'undelivered', attempts: { length: 5 } }])
  })

  test('of several deliveries the next retry is the first', async () => {
    const clock = createManualClock({ startMs: 0 })
    const service = createCampaignService({ clock, deliver: () => new Response(null, { status: 503 }) })
    service.registerWebhook({ url: 'https://partner.example/hook' })
    service.emit({ kind: 'custom', payload: {} })
    await clock.advance(7_000)
    service.emit({ kind: 'custom', payload: {} })
    await service.settle()
    expect(service.deliveries.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([35_000, 12_000])
    expect(service.nextRetryAt).toBe(12_000)
  })

  describe('reset', () => {
    test('takes the time back to the start; timers keep the delay they have left', async () => {
      const clock = createManualClock({ startMs: 1000 })
      const ranAt: number[] = []
      clock.setTimeout(() => ranAt.push(clock.now()), 500)
      await clock.advance(200)
      clock.reset()
      expect(clock.now()).toBe(1000)
      await clock.advance(299)
      expect(ranAt).toEqual([])
      await clock.advance(1)
      expect(ranAt).toEqual([1300])
    })

    test('takes a running clock back to the system’s time', async () => {
      const clock = createManualClock({ running: true })
      await clock.advance(3_600_000)
      clock.reset()
      expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000)
    })

    test('ends the advance that is under way; queued ones follow', async () => {
      const clock = createManualClock({ startMs: 0 })
      const moves = [clock.advance(1000), clock.advance(10)]
      clock.setTimeout(() => {}, 500)
      await new Promise((resolve) => setTimeout(resolve, 0))
      clock.reset()
      await Promise.all(moves)
      expect(clock.now()).toBe(10)
    })

    test('calls the listeners of the clock, unless the time did not change', async () => {
      const clock = createManualClock({ startMs: 0 })
      await clock.advance(5)
      const heard: number[] = []
      clock.onMove?.(() => heard.push(clock.now()))
      clock.reset()
      clock.reset()
      expect(heard).toEqual([0])
    })
  })

  describe('moved by several calls at once', () => {
    test('goes as far as they say together, and each resolves at its own time', async () => {
      const clock = createManualClock({ startMs: 0 })
      const seen: string[] = []
      const note = (name: string) => () => seen.push(`${name}@${clock.now()}`)
      clock.setTimeout(() => clock.setTimeout(note('set by a timer'), 3_000), 4_000)
      await Promise.all([
        clock.advance(5_000).then(note('first')),
        clock.advance(30_000).then(note('second')),
        clock.advanceTo(36_000).then(note('third')),
        clock.advanceTo(1_000).then(note('one that has passed')),
      ])
      expect(seen).toEqual([
        'first@5000',
        'set by a timer@7000',
        'second@35000',
        'third@36000',
        'one that has passed@36000',
      ])
    })

    test('loses no event between two reads, and takes one from a timer', async () => {
      const clock = createManualClock({ startMs: 0 })
      clock.setTimeout(() => void clock.advance(100), 20)
      void clock.advance(5_000)
      await clock.advance(30_000)
      await clock.advance(0)
      expect(clock.now()).toBe(35_100)
    })

    test('waits for the deliveries of each', async () => {
      const clock = createManualClock({ startMs: 0 })
      const service = createCampaignService({ clock, deliver: () => new Response(null, { status: 503 }) })
      service.registerWebhook({ url: 'https://partner.example/hook' })
      service.emit({ kind: 'custom', payload: {} })
      await Promise.all([5_000, 30_000, 59_999, 1].map((ms) => clock.advance(ms)))
      await service.settle()
      expect(service.deliveries[0]?.attempts.map(({ at }) => at)).toEqual([0, 5_000, 35_000, 95_000])
    })

    test('does not wait forever for a delivery that itself advances the clock', async () => {
      const clock = createManualClock({ startMs: 0, patienceMs: 1 })
      const deliver = async () => {
        await clock.advance(1_000)
        return new Response()
      }
      const service = createCampaignService({ clock, deliver })
      service.registerWebhook({ url: 'https://partner.example/hook' })
      service.emit({ kind: 'custom', payload: {} })
      await clock.advance(2_000)
      await service.settle()
      expect(clock.now()).toBe(3_000)
      expect(service.deliveries).toMatchObject([{ state: 'delivered' }])
    })

    test('continues when one of them fails', async () => {
      const clock = createManualClock({ startMs: 0 })
      clock.setTimeout(() => {
        throw new Error('of the timer')
      }, 10)
      const outcomes = await Promise.allSettled([20, -1, LATEST, 30].map((ms) => clock.advance(ms)))
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled'])
      expect(clock.now()).toBe(40)
    })
  })

  test.each([{ startMs: Number.NaN }, { startMs: 8.64e15 + 1 }, { patienceMs: -1 }, { patienceMs: Infinity }])(
    '%j is refused',
    (options) => {
      expect(() => createManualClock(options)).toThrow(RangeError)
    },
  )

  test.each([-1, Number.NaN, Infinity])('advance(%d) is refused', async (ms) => {
    await expect(createManualClock().advance(ms)).rejects.toThrow(RangeError)
  })
})

/** What a Date can hold. */
const LATEST = 8.64e15

test('no clock is moved beyond the last time a Date can hold', async () => {
  const clock = createManualClock()
  await expect(clock.advance(LATEST)).rejects.toThrow(RangeError)
  await expect(clock.advanceTo(LATEST + 1)).rejects.toThrow(RangeError)
  await clock.advanceTo(LATEST)
  await expect(clock.advance(1)).rejects.toThrow(RangeError)
  expect(new Date(clock.now()).toISOString()).toBe('+275760-09-13T00:00:00.000Z')
})

describe('a running clock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: 1_000_000 })
  })
  afterEach(() => {
    // The spies are on the clock that stands still.
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  test('stops at the last time a Date can hold', () => {
    const clock = createManualClock({ startMs: LATEST, running: true })
    vi.advanceTimersByTime(1_000)
    expect(clock.now()).toBe(LATEST)
  })

  /** Moves the clock, whose waits take turns of the event loop, which stands still here. */
  const moved = async (moving: Promise<void>): Promise<void> => {
    let done = false
    const ended = moving.then(() => {
      done = true
    })
    while (!done) await vi.advanceTimersByTimeAsync(1)
    await ended
  }

  test('begins now, and goes with the system', () => {
    const clock = createManualClock({ running: true })
    expect(clock.now()).toBe(1_000_000)
    vi.advanceTimersByTime(250)
    expect(clock.now()).toBe(1_000_250)
    expect(createManualClock({ running: true, startMs: 5 }).now()).toBe(5)
  })

  test('is not moved by those who set the time of day', () => {
    const clock = createManualClock({ running: true })
    vi.setSystemTime(5)
    expect(clock.now()).toBe(1_000_000)
  })

  test('runs timers as they become due, in order, and drops cleared ones', () => {
    const clock = createManualClock({ running: true, startMs: 0 })
    const seen: string[] = []
    const note = (name: string) => () => seen.push(`${name}@${clock.now()}`)
    clock.setTimeout(() => {
      note('a')()
      clock.setTimeout(note('b'), 5)
    }, 10)
    clock.setTimeout(note('d'), 40)
    clock.setTimeout(note('c'), 30)
    clock.clearTimeout(clock.setTimeout(note('never'), 20))
    vi.advanceTimersByTime(39)
    expect(seen).toEqual(['a@10', 'b@15', 'c@30'])
    vi.advanceTimersByTime(1)
    expect(seen).toEqual(['a@10', 'b@15', 'c@30', 'd@40'])
    expect([clock.pending, vi.getTimerCount()]).toEqual([0, 0])
  })

  test('can be advanced, and its timers fire that much sooner', async () => {
    const clock = createManualClock({ running: true, startMs: 0 })
    const seen: number[] = []
    for (const delayMs of [1_000, 5_000]) clock.setTimeout(() => seen.push(clock.now()), delayMs)
    await moved(clock.advance(4_500))
    expect(seen).toEqual([1_000])
    expect(clock.now()).toBeGreaterThanOrEqual(4_500)
    vi.advanceTimersByTime(4_999 - clock.now())
    expect(seen).toEqual([1_000])
    vi.advanceTimersByTime(1)
    expect(seen).toEqual([1_000, 5_000])
  })

  test('a timer that is further away than a timer of the system can be does not fire before its time', () => {
    const clock = createManualClock({ running: true, startMs: 0 })
    let ran = false
    clock.setTimeout(() => {
      ran = true
    }, 3_000_000_000)
    vi.advanceTimersByTime(2_999_999_999)
    expect(ran).toBe(false)
    vi.advanceTimersByTime(1)
    expect(ran).toBe(true)
  })
})

/** Counts the system's timers that keep the process alive. */
const heldTimers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test('timers of a running clock keep the process alive until they are cleared or unreferenced', () => {
  const clock = createManualClock({ running: true })
  const before = heldTimers()
  const retry = clock.setTimeout(() => {}, 300_000) as { unref(): void }
  expect(heldTimers()).toBe(before + 1)
  retry.unref()
  expect(heldTimers()).toBe(before)
  const attempt = clock.setTimeout(() => {}, 10_000)
  expect(heldTimers()).toBe(before + 1)
  clock.clearTimeout(attempt)
  clock.clearTimeout(attempt)
  expect(heldTimers()).toBe(before)
})

test('an unreferenced timer of a running clock stays so when the clock is moved', async () => {
  const clock = createManualClock({ running: true })
  const before = heldTimers()
  ;(clock.setTimeout(() => {}, 300_000) as { unref(): void }).unref()
  await clock.advance(1_000)
  expect(heldTimers()).toBe(before)
  clock.reset()
  expect(heldTimers()).toBe(before)
})
