import { describe, expect, test } from 'vitest'
import { AWARD_FAULTS, AWARD_WAYS, crashAward, crashMessage, interruptAwards } from './crashes.ts'
import { describeViolation, simulate } from './index.ts'

/** The gate takes the seed from the commit. Without it, the seeds are the same in every run. */
const FIRST_SEED = Number(process.env.CAMPAIGN_TEST_SEED ?? 1)
const SEEDS = 200
const MIN_SEEDS = 50
const MAX_MS = 10_000

test('drawn worlds keep every promise, and the same seed gives the same events', async () => {
  const end = performance.now() + MAX_MS
  for (let n = 0; n < SEEDS && (n < MIN_SEEDS || performance.now() < end); n++) {
    const seed = FIRST_SEED + n
    const world = await simulate(seed, 'all')
    if (world.violation !== undefined) expect.unreachable(describeViolation(world, 'all'))
    expect((await simulate(seed, 'all')).hash(), `the events of seed ${seed}`).toBe(world.hash())
  }
})

describe.each(AWARD_WAYS)('an award survives a crash between every two steps, made by %s', (way) => {
  test.each(AWARD_FAULTS)('with the fault %s', async (fault) => {
    for (let point = 1; ; point++) {
      const { world, wasSpared } = await crashAward(way, point, fault, FIRST_SEED)
      if (world.violation !== undefined) expect.unreachable(describeViolation(world, 'awards'))
      if (wasSpared) return expect(point).toBeGreaterThan(2)
    }
  })
})

test.each(AWARD_FAULTS)(
  'awards survive an interruption of their run at every step, with the fault %s',
  async (fault) => {
    for (let point = 1; ; point++) {
      const { world, points } = await interruptAwards(point, fault, FIRST_SEED)
      if (world.violation !== undefined) expect.unreachable(describeViolation(world, 'awards'))
      if (point > points) return expect(point).toBeGreaterThan(10)
    }
  },
)

test('a message survives a crash between every two steps', async () => {
  for (const seed of [FIRST_SEED, FIRST_SEED + 1, FIRST_SEED + 2]) {
    for (let point = 1; ; point++) {
      const { world, wasSpared } = await crashMessage(point, seed)
      if (world.violation !== undefined) expect.unreachable(describeViolation(world, 'events'))
      if (wasSpared) break
      expect(point).toBeLessThan(200)
    }
  }
})
