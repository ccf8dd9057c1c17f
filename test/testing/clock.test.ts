import { createManualClock } from 'campaign-client/testing'
import { describe, expect, test } from 'vitest'

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

  test.each([{ startMs: Number.NaN }, { patienceMs: -1 }, { patienceMs: Infinity }])('%j is refused', (options) => {
    expect(() => createManualClock(options)).toThrow(RangeError)
  })

  test.each([-1, Number.NaN, Infinity])('advance(%d) is refused', async (ms) => {
    await expect(createManualClock().advance(ms)).rejects.toThrow(RangeError)
  })
})
