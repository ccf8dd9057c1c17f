import { ConfigurationError } from 'campaign-client'
import { createCampaignService, createManualClock } from 'campaign-client/testing'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'

describe('createManualClock', () => {
  test('runs timers in order at their own times, including timers set by other timers', async () => {
    const clock = createManualClock({ startMs: 0 })
    const seen: string[] = []
    const record = (name: string) => () => seen.push(`${name}@${clock.now()}`)
    clock.setTimeout(record('c'), 30)
    clock.setTimeout(record('a'), 10)
    clock.setTimeout(record('b'), 10)
    clock.setTimeout(() => {
      record('d')()
      clock.setTimeout(record('e'), 5)
      clock.setTimeout(record('late'), 6)
    }, 35)
    await clock.advance(40)
    expect(seen).toEqual(['a@10', 'b@10', 'c@30', 'd@35', 'e@40'])
    expect(clock.now()).toBe(40)
    expect(clock.pending).toBe(1)
  })

  test('does not run a cleared timer, and ignores unknown handles', async () => {
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

  test('waits for tracked work, but at most patienceMs', async () => {
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

    clock.track?.(Promise.reject(new Error('failed work')))
    clock.track?.(new Promise(() => {}))
    clock.setTimeout(() => order.push('later'), 10)
    await clock.advance(10)
    expect(order).toEqual(['work', 'timer', 'later'])
  })

  test('advances to a time, and ignores a time in the past', async () => {
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
    await expect(clock.advanceTo(Number.NaN)).rejects.toThrow(ConfigurationError)
    await expect(clock.advanceTo('soon' as never)).rejects.toThrow(ConfigurationError)
    await expect(clock.advanceTo('soon' as never)).rejects.toThrow(/^advanceTo: timeMs must be/)
  })

  test('works with nextRetryAt, which is the earliest of several retries', async () => {
    const clock = createManualClock({ startMs: 0 })
    const service = createCampaignService({ clock, deliver: () => new Response(null, { status: 503 }) })
    service.registerWebhook({ url: 'https://partner.example/hook' })
    service.emit({ kind: 'custom', payload: {} })
    await clock.advance(7_000)
    service.emit({ kind: 'custom', payload: {} })
    await clock.advance(1_000)
    service.emit({ kind: 'custom', payload: {} })
    await service.settle()
    expect(service.deliveries.map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([35_000, 12_000, 13_000])
    expect(service.nextRetryAt).toBe(12_000)
  })

  test('runs the retry of nextRetryAt although time passes while the retry is scheduled', async () => {
    let ms = 0
    const systemTime = vi.spyOn(performance, 'now').mockImplementation(() => ms++)
    onTestFinished(() => systemTime.mockRestore())
    const clock = createManualClock({ running: true })
    const service = createCampaignService({ clock, deliver: () => new Response(null, { status: 503 }) })
    service.registerWebhook({ url: 'https://partner.example/hook' })
    service.emit({ kind: 'custom', payload: {} })
    await service.settle()
    await clock.advanceTo(service.nextRetryAt ?? Number.NaN)
    expect(service.deliveries).toMatchObject([{ attempts: { length: 2 } }])
  })

  describe('reset', () => {
    test('restores the start time, and timers keep their remaining delay', async () => {
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

    test('ends the current advance and continues with queued ones', async () => {
      const clock = createManualClock({ startMs: 0 })
      const advances = [clock.advance(1000), clock.advance(10)]
      clock.setTimeout(() => {}, 500)
      await new Promise((resolve) => setTimeout(resolve, 0))
      clock.reset()
      await Promise.all(advances)
      expect(clock.now()).toBe(10)
    })

    test('calls the listeners only when the time changes', async () => {
      const clock = createManualClock({ startMs: 0 })
      await clock.advance(5)
      const times: number[] = []
      const stopListening = clock.onMove?.(() => times.push(clock.now()))
      clock.reset()
      clock.reset()
      expect(times).toEqual([0])
      stopListening?.()
      await clock.advance(5)
      expect(times).toEqual([0])
    })
  })

  describe('several concurrent calls of advance', () => {
    test('add up, and each call resolves at its own time', async () => {
      const clock = createManualClock({ startMs: 0 })
      const seen: string[] = []
      const record = (name: string) => () => seen.push(`${name}@${clock.now()}`)
      clock.setTimeout(() => clock.setTimeout(record('set by a timer'), 3_000), 4_000)
      await Promise.all([
        clock.advance(5_000).then(record('first')),
        clock.advance(30_000).then(record('second')),
        clock.advanceTo(36_000).then(record('third')),
        clock.advanceTo(1_000).then(record('time in the past')),
      ])
      expect(seen).toEqual([
        'first@5000',
        'set by a timer@7000',
        'second@35000',
        'third@36000',
        'time in the past@36000',
      ])
    })

    test('add up with a call from a timer', async () => {
      const clock = createManualClock({ startMs: 0 })
      clock.setTimeout(() => void clock.advance(100), 20)
      void clock.advance(5_000)
      await clock.advance(30_000)
      await clock.advance(0)
      expect(clock.now()).toBe(35_100)
    })

    test('do not wait forever for a delivery that advances the clock', async () => {
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

    test('continue after one call fails', async () => {
      const clock = createManualClock({ startMs: 0 })
      clock.setTimeout(() => {
        throw new Error('timer failed')
      }, 10)
      const outcomes = await Promise.allSettled([20, -1, LATEST, 30].map((ms) => clock.advance(ms)))
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled'])
      expect(clock.now()).toBe(40)
    })
  })

  test.each([{ startMs: Number.NaN }, { startMs: 8.64e15 + 1 }, { patienceMs: -1 }, { patienceMs: Infinity }])(
    '%j is refused',
    (options) => {
      expect(() => createManualClock(options)).toThrow(ConfigurationError)
    },
  )

  test.each([-1, Number.NaN, Infinity])('advance(%d) is refused', async (ms) => {
    const problem = /^advance: ms must be a number of milliseconds/
    await expect(createManualClock().advance(ms)).rejects.toThrow(problem)
    await expect(createManualClock().advance(ms)).rejects.toThrow(ConfigurationError)
  })
})

/** The last time of a Date. */
const LATEST = 8.64e15

test('a clock cannot advance beyond the last time of a Date', async () => {
  const clock = createManualClock()
  await expect(clock.advance(LATEST)).rejects.toThrow(ConfigurationError)
  await expect(clock.advanceTo(LATEST + 1)).rejects.toThrow(ConfigurationError)
  await clock.advanceTo(LATEST)
  await expect(clock.advance(1)).rejects.toThrow(ConfigurationError)
  expect(new Date(clock.now()).toISOString()).toBe('+275760-09-13T00:00:00.000Z')
})

describe('a running clock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: 1_000_000 })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  test('stops at the last time of a Date', () => {
    const clock = createManualClock({ startMs: LATEST, running: true })
    vi.advanceTimersByTime(1_000)
    expect(clock.now()).toBe(LATEST)
  })

  /** Waits for a call of `advance` with fake timers. */
  const advanced = async (call: Promise<void>): Promise<void> => {
    let done = false
    const ended = call.then(() => {
      done = true
    })
    while (!done) await vi.advanceTimersByTimeAsync(1)
    await ended
  }

  test('starts at the system time and runs at its speed', () => {
    const clock = createManualClock({ running: true })
    expect(clock.now()).toBe(1_000_000)
    vi.advanceTimersByTime(250)
    expect(clock.now()).toBe(1_000_250)
    expect(createManualClock({ running: true, startMs: 5 }).now()).toBe(5)
  })

  test('ignores changes of the system time', () => {
    const clock = createManualClock({ running: true })
    vi.setSystemTime(5)
    expect(clock.now()).toBe(1_000_000)
  })

  test('runs timers when they are due, in order, except cleared timers', () => {
    const clock = createManualClock({ running: true, startMs: 0 })
    const seen: string[] = []
    const record = (name: string) => () => seen.push(`${name}@${clock.now()}`)
    clock.setTimeout(() => {
      record('a')()
      clock.setTimeout(record('b'), 5)
    }, 10)
    clock.setTimeout(record('d'), 40)
    clock.setTimeout(record('c'), 30)
    clock.clearTimeout(clock.setTimeout(record('never'), 20))
    vi.advanceTimersByTime(39)
    expect(seen).toEqual(['a@10', 'b@15', 'c@30'])
    vi.advanceTimersByTime(1)
    expect(seen).toEqual(['a@10', 'b@15', 'c@30', 'd@40'])
    expect([clock.pending, vi.getTimerCount()]).toEqual([0, 0])
  })

  test('fires its timers earlier after an advance', async () => {
    const clock = createManualClock({ running: true, startMs: 0 })
    const seen: number[] = []
    for (const delayMs of [1_000, 5_000]) clock.setTimeout(() => seen.push(clock.now()), delayMs)
    await advanced(clock.advance(4_500))
    expect(seen).toEqual([1_000])
    expect(clock.now()).toBeGreaterThanOrEqual(4_500)
    vi.advanceTimersByTime(4_999 - clock.now())
    expect(seen).toEqual([1_000])
    vi.advanceTimersByTime(1)
    expect(seen).toEqual([1_000, 5_000])
  })

  test('keeps the remaining delay of a timer if another timer resets the clock', async () => {
    const clock = createManualClock({ running: true, startMs: 0 })
    const seen: number[] = []
    clock.setTimeout(() => clock.reset(), 1_000)
    clock.setTimeout(() => seen.push(clock.now()), 5_000)
    await advanced(clock.advance(1_000))
    vi.advanceTimersByTime(3_900)
    expect(seen).toEqual([])
    vi.advanceTimersByTime(100)
    expect(seen).toHaveLength(1)
  })

  test('fires a timer on time even if its delay exceeds the maximum of setTimeout', () => {
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

/** Counts the timers of Node that keep the process alive. */
const activeTimers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test('timers of a manual clock do not keep the process alive', () => {
  const before = activeTimers()
  createManualClock().setTimeout(() => {}, 300_000)
  expect(activeTimers()).toBe(before)
})

test('timers of a running clock keep the process alive until they are cleared or unreferenced', () => {
  const clock = createManualClock({ running: true })
  const before = activeTimers()
  const retry = clock.setTimeout(() => {}, 300_000) as { unref(): void }
  expect(activeTimers()).toBe(before + 1)
  retry.unref()
  expect(activeTimers()).toBe(before)
  const attempt = clock.setTimeout(() => {}, 10_000)
  expect(activeTimers()).toBe(before + 1)
  clock.clearTimeout(attempt)
  clock.clearTimeout(attempt)
  expect(activeTimers()).toBe(before)
})

test('an unreferenced timer of a running clock stays unreferenced after advance and reset', async () => {
  const clock = createManualClock({ running: true })
  // Timers of earlier test files may still end.
  const before = activeTimers()
  ;(clock.setTimeout(() => {}, 300_000) as { unref(): void }).unref()
  await clock.advance(1_000)
  expect(activeTimers()).toBeLessThanOrEqual(before)
  clock.reset()
  expect(activeTimers()).toBeLessThanOrEqual(before)
})
