import type { CampaignService, FaultOptions } from 'campaign-client/testing'
import { describe, expectTypeOf, test } from 'vitest'

declare const service: CampaignService

describe('a fault', () => {
  test('accepts delayMs only for drip and delay', () => {
    expectTypeOf<{ kind: 'delay'; delayMs: number }>().toExtend<FaultOptions>()
    expectTypeOf<{ kind: 'drip'; delayMs: number }>().toExtend<FaultOptions>()
    service.fail({ kind: 'delay', delayMs: 5 })
    // @ts-expect-error: no delayMs
    service.fail({ kind: 'truncate', delayMs: 5 })
    // @ts-expect-error: no delayMs
    service.fail({ kind: 'stall', delayMs: 5 })
    // @ts-expect-error: no delayMs
    service.fail({ kind: 'misshapen', delayMs: 5 })
    // @ts-expect-error: no delayMs
    service.fail({ kind: 'hang', delayMs: 5 })
  })

  test('of a delivery has its own kinds and options', () => {
    service.fail({
      on: 'delivery',
      kind: 'missing_field',
      field: 'user',
      scope: 'user_activity',
      type: 'quest_completed',
    })
    service.fail({ on: 'delivery', kind: 'delay', delayMs: 5, times: 2 })
    // @ts-expect-error: no field
    service.fail({ on: 'delivery', kind: 'missing_field' })
    // @ts-expect-error: a fault of requests
    service.fail({ on: 'delivery', kind: 'status' })
    // @ts-expect-error: a fault of deliveries
    service.fail({ on: 'rewardWallet', kind: 'duplicate' })
  })

  test('accepts `applied` only where the kind does not imply it', () => {
    service.fail({ kind: 'reset', applied: true })
    // @ts-expect-error: always applied
    service.fail({ kind: 'applied_then_reset', applied: false })
    // @ts-expect-error: always applied
    service.fail({ kind: 'delay', applied: false })
  })
})
