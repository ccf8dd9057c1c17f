import type { WebhookHandled } from 'campaign-client/webhook'
import { expect, test } from 'vitest'
import { ReceiverReports } from '../../../src/webhook/receiver/reports.ts'
import { receiverSettings } from '../../../src/webhook/receiver/settings.ts'

test('attempts are counted of the 10 000 messages that came last, and left out of what is told of the others', () => {
  const told: WebhookHandled[] = []
  const onHandled = (handled: WebhookHandled) => told.push(handled)
  const reports = new ReceiverReports(
    receiverSettings({ endpoint: 'campaign', secret: 'secret', handle: () => {}, onHandled }),
  )
  const arrived = (id: string) => reports.arrived({ id, kind: 'unknown' })
  const attemptsOf = (id: string): unknown => {
    reports.ended({ id, kind: 'unknown' }, 'failed', 0, 0)
    const handled = told.pop() ?? {}
    return 'attempts' in handled ? handled.attempts : 'absent'
  }
  for (let n = 1; n <= 10_000; n++) arrived(`m-${n}`)
  expect(attemptsOf('m-1')).toBe(1)
  // From now on another one has been away for longest.
  arrived('m-1')
  arrived('one more')
  expect(['m-1', 'm-2', 'm-3', 'm-10000', 'one more'].map(attemptsOf)).toEqual([2, 'absent', 1, 1, 1])
})
