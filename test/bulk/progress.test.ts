import { type AwardProgress, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ProgressReporter } from '../../src/bulk/report/progress-reporter.ts'
import { awards, counts, newPath, scene } from './fixtures.ts'

describe('over time', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const reporter = (total: number | null) => {
    const told: AwardProgress[] = []
    let awarded = 0
    const progress = new ProgressReporter(
      (each) => void told.push(each),
      () => ({ rows: awarded, total, counts: counts({ awarded }), xp: counts({}), waitingMs: 0 }),
    )
    const end = () => {
      awarded++
      progress.countFinished()
      progress.schedule()
    }
    return { told, progress, end }
  }

  test('calls at most ten times a second, the first time at once, and always at the end', () => {
    const { told, progress, end } = reporter(5_000)
    for (let tick = 0; tick < 3_000; tick++) {
      end()
      vi.advanceTimersByTime(1)
    }
    expect(told.length).toBeGreaterThanOrEqual(29)
    expect(told.length).toBeLessThanOrEqual(31)
    end()
    progress.finish()
    expect(told.at(-1)?.counts.awarded).toBe(3_001)
    vi.advanceTimersByTime(1_000)
    expect(told.at(-1)?.counts.awarded).toBe(3_001)
  })

  test('gives the rate of the last ten seconds, and the time left when both are known', () => {
    const { told, end } = reporter(10_000)
    for (let tick = 0; tick < 400; tick++) {
      end()
      vi.advanceTimersByTime(10)
    }
    expect(told[0]).toMatchObject({ rate: 0, timeLeftMs: null })
    expect(told.at(-1)?.rate).toBeCloseTo(100, -1)
    expect(told.at(-1)?.timeLeftMs).toBeGreaterThan(90_000)
    expect(told.at(-1)?.timeLeftMs).toBeLessThan(100_000)
    for (let tick = 0; tick < 3_000; tick++) {
      end()
      vi.advanceTimersByTime(20)
    }
    expect(told.at(-1)?.rate).toBeCloseTo(50, -1)
  })

  test('the time left can not be told without a total', () => {
    const { told, end } = reporter(null)
    for (let tick = 0; tick < 400; tick++) {
      end()
      vi.advanceTimersByTime(10)
    }
    expect(told.every(({ timeLeftMs }) => timeLeftMs === null)).toBe(true)
  })
})

test('the progress of a run', async () => {
  const { client } = scene()
  const told: AwardProgress[] = []
  await rewardWallets(client, awards(50), { ledger: fileLedger(newPath()), onProgress: (each) => void told.push(each) })
  expect(told[0]).toMatchObject({ total: 50, timeLeftMs: null, waitingMs: 0 })
  expect(told.at(-1)).toMatchObject({ rows: 50, total: 50, counts: counts({ awarded: 50 }) })
})

test('of a list that does not say how long it is, the total is known at its end', async () => {
  const { client } = scene()
  const totals: (number | null)[] = []
  function* rows() {
    yield* awards(50)
  }
  const ledger = fileLedger(newPath())
  await rewardWallets(client, rows(), { ledger, onProgress: ({ total }) => void totals.push(total) })
  expect(totals[0]).toBeNull()
  expect(totals.at(-1)).toBe(50)
})

test.each([
  [
    'throws',
    () => {
      throw new Error('the progress bar is broken')
    },
  ],
  [
    'rejects',
    async () => {
      throw new Error('the progress bar is broken')
    },
  ],
])('one that %s breaks nothing', async (_, onProgress) => {
  const { client } = scene()
  const report = await rewardWallets(client, awards(5), { ledger: fileLedger(newPath()), onProgress })
  expect(report.counts.awarded).toBe(5)
})
