import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { sleep, TIMED_OUT, withTimeout } from '../../src/shared/timers.ts'

const never = new Promise<never>(() => undefined)

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('withTimeout', () => {
  test('settles like the work', async () => {
    expect(await withTimeout(Promise.resolve('done'), 10)).toBe('done')
    await expect(withTimeout(Promise.reject(new Error('broken')), 10)).rejects.toThrow('broken')
  })

  test.each([10, 0, -1, -60_000])('resolves to TIMED_OUT after %i ms', async (ms) => {
    const settled = vi.fn()
    void withTimeout(never, ms).then(settled)
    await vi.advanceTimersByTimeAsync(Math.max(0, ms - 1))
    if (ms > 0) expect(settled).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(settled).toHaveBeenCalledExactlyOnceWith(TIMED_OUT)
  })

  test('rejects with the reason of a signal, which may already be aborted', async () => {
    const controller = new AbortController()
    const later = expect(withTimeout(never, 10, controller.signal)).rejects.toBe('no')
    controller.abort('no')
    await later
    await expect(withTimeout(never, 10, controller.signal)).rejects.toBe('no')
  })

  test('settles once', async () => {
    const controller = new AbortController()
    let finish: (value: string) => void = () => undefined
    const work = new Promise<string>((resolve) => {
      finish = resolve
    })
    const first = expect(withTimeout(work, 10, controller.signal)).rejects.toBe('abort first')
    controller.abort('abort first')
    finish('too late')
    await vi.advanceTimersByTimeAsync(20)
    await first
  })

  test('ignores a late failure of the work', async () => {
    let fail: (reason: Error) => void = () => undefined
    const work = new Promise<never>((_, reject) => {
      fail = reject
    })
    const first = withTimeout(work, 10)
    await vi.advanceTimersByTimeAsync(10)
    expect(await first).toBe(TIMED_OUT)
    fail(new Error('late'))
  })
})

describe('sleep', () => {
  test('ends after its time', async () => {
    const ended = vi.fn()
    void sleep(10).then(ended)
    await vi.advanceTimersByTimeAsync(9)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(ended).toHaveBeenCalledOnce()
  })

  test('rejects with the reason of a signal, which may already be aborted', async () => {
    const controller = new AbortController()
    const later = expect(sleep(10, controller.signal)).rejects.toBe('no')
    controller.abort('no')
    await later
    await expect(sleep(10, controller.signal)).rejects.toBe('no')
  })
})
