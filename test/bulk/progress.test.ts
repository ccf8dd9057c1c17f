import { type AwardProgress, fileLedger, rewardWallets } from 'campaign-client/bulk'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ProgressReporter } from '../../src/bulk/report.ts'
import { awards, counts, newPath, setup } from './fixtures.ts'

describe('onProgress', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const reporter = (total: number | null, waiting: AwardProgress['waiting'] = null) => {
    const reported: AwardProgress[] = []
    let awarded = 0
    const progress = new ProgressReporter(
      (each) => void reported.push(each),
      () => ({
        rows: awarded,
        total,
        counts: counts({ awarded }),
        xp: counts({}),
        waiting,
      }),
    )
    const end = () => {
      awarded++
      progress.countFinished()
      progress.schedule()
    }
    return { reported, progress, end }
  }

  test('is called immediately, then at most ten times a second, and at the end', () => {
    const { reported, progress, end } = reporter(5_000)
    progress.schedule()
    expect(reported).toHaveLength(1)
    for (let tick = 0; tick < 3_000; tick++) {
      end()
      vi.advanceTimersByTime(1)
    }
    expect(reported.length).toBeGreaterThanOrEqual(29)
    expect(reported.length).toBeLessThanOrEqual(31)
    end()
    progress.finish()
    expect(reported.at(-1)?.counts.awarded).toBe(3_001)
    vi.advanceTimersByTime(1_000)
    expect(reported.at(-1)?.counts.awarded).toBe(3_001)
  })

  test('gets the rate of the last ten seconds and the estimated time left', () => {
    const { reported, end } = reporter(10_000)
    for (let tick = 0; tick < 400; tick++) {
      end()
      vi.advanceTimersByTime(10)
    }
    expect(reported[0]).toMatchObject({ rate: 0, timeLeftMs: null })
    // There is no estimate in the first second.
    expect(reported[9]).toMatchObject({ timeLeftMs: null })
    expect(reported[11]?.timeLeftMs).toBeGreaterThan(0)
    expect(reported.at(-1)?.rate).toBeCloseTo(100, -1)
    expect(reported.at(-1)?.timeLeftMs).toBeGreaterThan(90_000)
    expect(reported.at(-1)?.timeLeftMs).toBeLessThan(100_000)
    for (let tick = 0; tick < 3_000; tick++) {
      end()
      vi.advanceTimersByTime(20)
    }
    expect(reported.at(-1)?.rate).toBeCloseTo(50, 0)
  })

  test('is called every second while the run waits, and never after the end', () => {
    const { reported, progress } = reporter(10, { for: 'outage', sinceMs: 1_000, nextAttemptMs: 0, givesUpMs: 60_000 })
    progress.schedule()
    vi.advanceTimersByTime(5_500)
    expect(reported).toHaveLength(6)
    progress.finish()
    progress.schedule()
    vi.advanceTimersByTime(5_500)
    expect(reported).toHaveLength(7)
  })

  test('is not called again while the run does not wait', () => {
    const { reported, progress } = reporter(10)
    progress.schedule()
    vi.advanceTimersByTime(5_500)
    expect(reported).toHaveLength(1)
  })

  test('gets no time left before an award is finished', () => {
    const { reported, progress } = reporter(10)
    for (let tick = 0; tick < 30; tick++) {
      progress.schedule()
      vi.advanceTimersByTime(100)
    }
    expect(reported.at(-1)).toMatchObject({ rate: 0, timeLeftMs: null })
  })

  test('gets no time left if the total is unknown', () => {
    const { reported, end } = reporter(null)
    for (let tick = 0; tick < 400; tick++) {
      end()
      vi.advanceTimersByTime(10)
    }
    expect(reported.every(({ timeLeftMs }) => timeLeftMs === null)).toBe(true)
  })
})

test('a run reports its progress', async () => {
  const { client } = setup()
  const reported: AwardProgress[] = []
  await rewardWallets(client, awards(50), {
    ledger: fileLedger(newPath()),
    onProgress: (each) => void reported.push(each),
  })
  expect(reported[0]).toMatchObject({ total: 50, timeLeftMs: null, waiting: null })
  expect(reported.at(-1)).toMatchObject({ rows: 50, total: 50, counts: counts({ awarded: 50 }) })
})

test('the total of a set is known at the start', async () => {
  const { client } = setup()
  const totals: (number | null)[] = []
  const ledger = fileLedger(newPath())
  await rewardWallets(client, new Set(awards(50)), { ledger, onProgress: ({ total }) => void totals.push(total) })
  expect(totals[0]).toBe(50)
})

test('the total of a list without a length is known at its end', async () => {
  const { client } = setup()
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
])('a run continues if onProgress %s', async (_, onProgress) => {
  const { client } = setup()
  const report = await rewardWallets(client, awards(5), { ledger: fileLedger(newPath()), onProgress })
  expect(report.counts.awarded).toBe(5)
})
