import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { onAbort } from '../../src/http/abort-listeners.ts'
import { TIME_IS_UP, wait, within } from '../../src/http/timeout.ts'

const never = (): Promise<never> => new Promise(() => undefined)

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('within', () => {
  test('gives what the work gives', async () => {
    expect(await within(10, undefined, async () => 'done')).toBe('done')
    await expect(within(10, undefined, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  })

  test('rejects when the time is up, and aborts the work', async () => {
    let given: AbortSignal | undefined
    const late = within(10, undefined, (signal) => {
      given = signal
      return never()
    })
    const caught = late.catch((reason: unknown) => reason)
    await vi.advanceTimersByTimeAsync(9)
    expect(given?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await caught).toBe(TIME_IS_UP)
    expect(given?.aborted).toBe(true)
  })

  test('does not begin the work of an aborted signal', async () => {
    const work = vi.fn(never)
    expect(await within(10, AbortSignal.abort('no'), work).catch((reason: unknown) => reason)).toBe('no')
    expect(work).not.toHaveBeenCalled()
  })

  test('is settled by whichever comes first, and only once', async () => {
    const controller = new AbortController()
    let finish: (value: string) => void = () => undefined
    const first = within(10, controller.signal, () => new Promise<string>((resolve) => (finish = resolve)))
    const caught = first.catch((reason: unknown) => reason)
    controller.abort('abort first')
    finish('too late')
    await vi.advanceTimersByTimeAsync(20)
    expect(await caught).toBe('abort first')
  })

  test.each([0, -1, -60_000])('with %i ms ends in the next turn', async (ms) => {
    const caught = within(ms, undefined, never).catch((reason: unknown) => reason)
    await vi.advanceTimersByTimeAsync(1)
    expect(await caught).toBe(TIME_IS_UP)
  })
})

describe('wait', () => {
  test('ends after its time', async () => {
    const ended = vi.fn()
    void wait(10, undefined).then(ended)
    await vi.advanceTimersByTimeAsync(9)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(ended).toHaveBeenCalledOnce()
  })

  test('ends at once with the reason of an abort', async () => {
    const controller = new AbortController()
    const caught = wait(10, controller.signal).catch((reason: unknown) => reason)
    controller.abort(undefined)
    expect(await caught).toBe(controller.signal.reason)
  })
})

describe('onAbort', () => {
  test('one listener serves many, and goes with the last of them', () => {
    const { signal } = new AbortController()
    const leaves = Array.from({ length: 1000 }, () => onAbort(signal, () => undefined))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    const last = leaves.pop()
    for (const leave of leaves) leave()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    last?.()
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('leaving twice takes nothing from those who came later', () => {
    const controller = new AbortController()
    const early = onAbort(controller.signal, () => undefined)
    early()
    const told = vi.fn()
    onAbort(controller.signal, told)
    early()
    controller.abort()
    expect(told).toHaveBeenCalledOnce()
  })

  test('one who has left hears nothing, and leaving while told holds up nobody', () => {
    const controller = new AbortController()
    const gone = vi.fn()
    const told = vi.fn()
    const leave = onAbort(controller.signal, gone)
    const leaveAll = [onAbort(controller.signal, () => leaveAll[0]?.()), onAbort(controller.signal, told)]
    leave()
    controller.abort()
    expect(gone).not.toHaveBeenCalled()
    expect(told).toHaveBeenCalledOnce()
  })

  test('signals are told apart', () => {
    const [mine, other] = [new AbortController(), new AbortController()]
    const onMine = vi.fn()
    const onOther = vi.fn()
    onAbort(mine.signal, onMine)
    onAbort(other.signal, onOther)
    mine.abort()
    expect(onMine).toHaveBeenCalledOnce()
    expect(onOther).not.toHaveBeenCalled()
  })
})
