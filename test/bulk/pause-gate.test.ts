import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PauseGate } from '../../src/bulk/run/pause-gate.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Returns a gate, and the names of the calls that it has let through. */
function gateWithCalls() {
  const gate = new PauseGate()
  const entered: string[] = []
  const pauseCounts: Record<string, number> = {}
  const enter = (...names: readonly string[]): void => {
    for (const name of names) {
      void gate.enter().then((pauseCount) => {
        entered.push(name)
        pauseCounts[name] = pauseCount
      })
    }
  }
  return { gate, enter, entered, pauseCounts }
}

test('after a pause, the gate lets one call through, and the others after the answer to this call', async () => {
  const { gate, enter, entered, pauseCounts } = gateWithCalls()
  gate.pause(100, 0)
  expect(gate.remainingMs).toBe(100)
  enter('a', 'b')
  await vi.advanceTimersByTimeAsync(99)
  expect(gate.remainingMs).toBe(1)
  expect(entered).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  enter('c')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(entered).toEqual(['a'])
  expect(gate.remainingMs).toBe(0)
  gate.answered(pauseCounts.a ?? 0)
  await vi.advanceTimersByTimeAsync(0)
  expect(entered).toEqual(['a', 'b', 'c'])
  enter('d')
  await vi.advanceTimersByTimeAsync(0)
  expect(entered).toEqual(['a', 'b', 'c', 'd'])
})

test('the answer to a call from before the pause does not open the gate', async () => {
  const { gate, enter, entered } = gateWithCalls()
  gate.pause(100, 0)
  enter('a', 'b')
  gate.answered(0)
  await vi.advanceTimersByTimeAsync(99)
  expect(entered).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  gate.answered(0)
  await vi.advanceTimersByTimeAsync(0)
  expect(entered).toEqual(['a'])
})

test('the gate lets the next call through if the probe sent nothing', async () => {
  const { gate, enter, entered, pauseCounts } = gateWithCalls()
  gate.pause(100, 0)
  enter('a', 'b', 'c')
  await vi.advanceTimersByTimeAsync(50)
  gate.replaceProbe(0)
  expect(entered).toEqual([])
  await vi.advanceTimersByTimeAsync(50)
  gate.replaceProbe(0)
  await vi.advanceTimersByTimeAsync(0)
  expect(entered).toEqual(['a'])
  gate.replaceProbe(pauseCounts.a ?? 0)
  await vi.advanceTimersByTimeAsync(0)
  expect(entered).toEqual(['a', 'b'])
})

test('replaceProbe changes nothing while the gate is open', async () => {
  const { gate, enter, entered } = gateWithCalls()
  gate.replaceProbe(0)
  enter('a', 'b')
  await vi.advanceTimersByTimeAsync(0)
  expect(entered).toEqual(['a', 'b'])
})

test('a call from before a pause can extend the pause, but not shorten it or start another one', async () => {
  const { gate, enter, entered } = gateWithCalls()
  gate.pause(100, 0)
  gate.pause(50, 0)
  expect(gate.remainingMs).toBe(100)
  gate.pause(200, 0)
  expect(gate.remainingMs).toBe(200)
  enter('a')
  await vi.advanceTimersByTimeAsync(199)
  expect(entered).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(entered).toEqual(['a'])
  gate.pause(200, 0)
  expect(gate.remainingMs).toBe(0)
})

test('a failed probe starts another pause, which may be shorter', async () => {
  const { gate, enter, entered, pauseCounts } = gateWithCalls()
  gate.pause(100, 0)
  enter('a', 'b')
  await vi.advanceTimersByTimeAsync(100)
  gate.pause(10, pauseCounts.a ?? 0)
  expect(gate.hasPausedSince(pauseCounts.a ?? 0)).toBe(true)
  expect(gate.remainingMs).toBe(10)
  await vi.advanceTimersByTimeAsync(10)
  expect(entered).toEqual(['a', 'b'])
  expect(gate.hasPausedSince(pauseCounts.b ?? 0)).toBe(false)
})

test('an opened gate lets all calls through, even during a pause', async () => {
  const { gate, enter, entered } = gateWithCalls()
  gate.pause(100, 0)
  enter('a', 'b')
  gate.open()
  await vi.advanceTimersByTimeAsync(0)
  expect(entered).toEqual(['a', 'b'])
  await vi.advanceTimersByTimeAsync(100)
  enter('c', 'd')
  await vi.advanceTimersByTimeAsync(0)
  expect(entered).toEqual(['a', 'b', 'c', 'd'])
})
