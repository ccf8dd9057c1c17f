import type { DeliveryAttempt } from 'campaign-client/testing'
import { DELIVERY_DELAYS_MS } from '../../../../shared/delivery-schedule.ts'
import type { DeliveryRow } from '../../../protocol.ts'
import { serviceTime } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { duration, Text, Time } from '../../parts/text.tsx'

const NAMES = ['First attempt', '1st retry', '2nd retry', '3rd retry', '4th retry'] as const

/** The attempts of a delivery, past and future. */
export const Attempts = ({ delivery, made }: { delivery: DeliveryRow; made: readonly DeliveryAttempt[] }) => (
  <ol class="timeline" aria-label="Attempts">
    {NAMES.slice(0, delivery.isTest ? 1 : undefined).map((name, index) => {
      const attempt = made[index]
      return attempt ? (
        <li key={name} class={attempt.ok ? 'good' : 'bad'}>
          <div class="when">
            <strong>{name}</strong>
            <span class="muted">
              <Time ms={attempt.at} />
            </span>
          </div>
          <p class="what">
            <Badge tone={attempt.ok ? 'good' : 'bad'}>{attempt.status ?? 'no answer'}</Badge>
            <code>
              <Text>{attempt.error ?? (attempt.answer || '(empty)')}</Text>
            </code>
          </p>
        </li>
      ) : (
        <FutureAttempt key={name} name={name} index={index} delivery={delivery} />
      )
    })}
  </ol>
)

function FutureAttempt({ name, index, delivery }: { name: string; index: number; delivery: DeliveryRow }) {
  const { state, attempts, nextAttemptAt: at } = delivery
  const isNext = state === 'pending' && index === attempts
  return (
    <li class={isNext ? 'next' : 'unused'}>
      <div class="when">
        <strong>{name}</strong>
        <span class="muted">
          {!isNext ? (
            `${duration(DELIVERY_DELAYS_MS[index - 1] ?? 0)} after a failure`
          ) : at === undefined ? (
            'sending'
          ) : (
            <>
              in {duration(at - serviceTime.value)}, at <Time ms={at} />
            </>
          )}
        </span>
      </div>
    </li>
  )
}
