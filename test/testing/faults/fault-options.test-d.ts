import type { CampaignService, FaultOptions } from 'campaign-client/testing'
import { describe, expectTypeOf, test } from 'vitest'

declare const service: CampaignService

describe('a fault', () => {
  test('takes delayMs where there is something to delay', () => {
    expectTypeOf<{ kind: 'delay'; delayMs: number }>().toExtend<FaultOptions>()
    expectTypeOf<{ kind: 'drip'; delayMs: number }>().toExtend<FaultOptions>()
    service.fail({ kind: 'delay', delayMs: 5 })
    // @ts-expect-error: half of the answer, at once
    service.fail({ kind: 'truncate', delayMs: 5 })
    // @ts-expect-error: half of the answer, at once
    service.fail({ kind: 'stall', delayMs: 5 })
    // @ts-expect-error: an answer like any other
    service.fail({ kind: 'misshapen', delayMs: 5 })
    // @ts-expect-error: there is no answer
    service.fail({ kind: 'hang', delayMs: 5 })
  })

  test('takes `applied` where its name does not say it', () => {
    service.fail({ kind: 'reset', applied: true })
    // @ts-expect-error: it is
    service.fail({ kind: 'applied_then_reset', applied: false })
    // @ts-expect-error: the answer is the service's own
    service.fail({ kind: 'delay', applied: false })
  })
})
