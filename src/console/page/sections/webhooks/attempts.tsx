import type { DeliveryAttempt } from 'campaign-client/testing'
import { DELIVERY_FAULT_KINDS } from '../../../fault-kinds.ts'
import type { DeliveryRow } from '../../../protocol.ts'
import { serviceTime } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { duration, Text, Time } from '../../parts/text.tsx'

const NAMES = ['First attempt', '1st retry', '2nd retry', '3rd retry', '4th retry'] as const

/** The attempts of a delivery that were made, and the next one. */
export const Attempts = ({ delivery, made }: { delivery: DeliveryRow; made: readonly DeliveryAttempt[] }) => (
  <ol class="timeline" aria-label="Attempts">
    {made.map((attempt, index) => (
      <li key={NAMES[index]} class={attempt.ok ? 'good' : 'bad'}>
        <div class="when">
          <strong>{NAMES[index]}</strong>
          <span class="muted">
            <Time ms={attempt.at} />
          </span>
          {attempt.fault && <Badge tone="busy">{`fault: ${DELIVERY_FAULT_KINDS[attempt.fault][0]}`}</Badge>}
        </div>
        <p class="what">
          <Badge tone={attempt.ok ? 'good' : 'bad'}>{attempt.status ?? 'no response'}</Badge>
          <code>
            <Text>{attempt.error ?? (attempt.response || '(empty)')}</Text>
          </code>
        </p>
        {attempt.copy && (
          <p class="what">
            <Badge tone={attempt.copy.ok ? 'good' : 'bad'}>{attempt.copy.status ?? 'no response'}</Badge>
            <span class="muted">to the same message, sent a second time</span>
          </p>
        )}
      </li>
    ))}
    {delivery.state === 'pending' && (
      <li class="next">
        <div class="when">
          <strong>{NAMES[made.length]}</strong>
          <span class="muted">
            {delivery.nextAttemptAt === undefined ? (
              'sending'
            ) : (
              <>
                in {duration(delivery.nextAttemptAt - serviceTime.value)}, at <Time ms={delivery.nextAttemptAt} />
              </>
            )}
          </span>
        </div>
      </li>
    )}
  </ol>
)
