import { onTestFinished, vi } from 'vitest'

/** Skips the pauses of the tested code with fake timers. Returns a function that returns the elapsed fake time in milliseconds. */
export function skipPauses(): () => number {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.setTimerTickMode('nextTimerAsync')
  onTestFinished(() => void vi.useRealTimers())
  const startedAt = performance.now()
  return () => performance.now() - startedAt
}
