import type { DeliveryAttempt } from 'campaign-client/testing'
import { DELIVERY_DELAYS_MS } from '../../../../shared/delivery-schedule.ts'
import type { DeliveryRow } from '../../../protocol.ts'
import { serviceTime } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { duration, Text, Time } from '../../parts/text.tsx'

type Step = 'good' | 'bad' | 'sending' | 'waiting' | 'unused'

/** The state of each attempt that the delivery has made or may make. */
function stepsOf({ state, nextAttemptAt, isTest }: DeliveryRow, made: readonly DeliveryAttempt[]): Step[] {
  const most = isTest ? 1 : DELIVERY_DELAYS_MS.length + 1
  return Array.from({ length: Math.max(most, made.length) }, (_, index) => {
    const attempt = made[index]
    if (attempt) return attempt.ok ? 'good' : 'bad'
    if (state !== 'pending' || index > made.length) return 'unused'
    return nextAttemptAt === undefined ? 'sending' : 'waiting'
  })
}

const NAMES = ['First attempt', '1st retry', '2nd retry', '3rd retry', '4th retry'] as const

/** The attempts of a delivery in order of time: those that were made, and those to come. */
export const Attempts = ({ delivery, made }: { delivery: DeliveryRow; made: readonly DeliveryAttempt[] }) => (
  <ol class="timeline" aria-label="Attempts">
    {stepsOf(delivery, made).map((step, index) => {
      const attempt = made[index]
      return (
        <li key={index} class={step}>
          <div class="when">
            <strong>{NAMES[index] ?? `Attempt ${index + 1}`}</strong>
            <span class="muted">
              {attempt ? <Time ms={attempt.at} /> : <Expected delivery={delivery} step={step} index={index} />}
            </span>
          </div>
          {attempt && (
            <p class="what">
              <Badge tone={attempt.ok ? 'good' : 'bad'}>{attempt.status ?? 'no answer'}</Badge>
              <code>
                <Text>{attempt.error ?? (attempt.answer || '(empty)')}</Text>
              </code>
            </p>
          )}
        </li>
      )
    })}
  </ol>
)

/** When an attempt that was not made yet is due. */
function Expected({ delivery, step, index }: { delivery: DeliveryRow; step: Step; index: number }) {
  const delay = DELIVERY_DELAYS_MS[index - 1]
  const at = delivery.nextAttemptAt
  if (step === 'sending') return <>being sent</>
  if (step === 'waiting' && at !== undefined) {
    return (
      <>
        in {duration(at - serviceTime.value)}, at <Time ms={at} />
      </>
    )
  }
  return <>{delay !== undefined && `${duration(delay)} after a failure`}</>
}
