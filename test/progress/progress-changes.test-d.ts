import {
  type CompletionChange,
  type ProgressChange,
  progressChanges,
  type RankChange,
  type RewardChange,
  type TeamChange,
  type UserProgress,
  type XpChange,
  type XpFigures,
} from 'campaign-client'
import { expectTypeOf, test } from 'vitest'

declare const reading: UserProgress

test('progressChanges takes two readings, and the earlier one may be missing', () => {
  expectTypeOf(progressChanges).returns.toEqualTypeOf<ProgressChange[]>()
  expectTypeOf(progressChanges).toBeCallableWith(reading, reading)
  expectTypeOf(progressChanges).toBeCallableWith(undefined, reading)
  expectTypeOf(progressChanges).toBeCallableWith(null, reading)
  // @ts-expect-error The later reading is required.
  progressChanges(reading)
  // @ts-expect-error A reading is an object, not JSON text.
  progressChanges('{}', reading)
})

test('the kind of a change narrows its type', () => {
  const change = {} as ProgressChange
  switch (change.kind) {
    case 'task_completed':
    case 'quest_completed':
    case 'challenge_completed':
      expectTypeOf(change).toEqualTypeOf<CompletionChange>()
      expectTypeOf(change).toExtend<{ id: string; name: string; xp: number; xp_mul: number }>()
      break
    case 'reward_earned':
      expectTypeOf(change).toEqualTypeOf<RewardChange>()
      break
    case 'xp_changed':
      expectTypeOf(change).toEqualTypeOf<XpChange>()
      expectTypeOf(change.after).toEqualTypeOf<XpFigures>()
      break
    case 'rank_changed':
      expectTypeOf(change).toEqualTypeOf<RankChange>()
      break
    case 'team_changed':
      expectTypeOf(change).toEqualTypeOf<TeamChange>()
      break
    default:
      expectTypeOf(change).toBeNever()
  }
})
