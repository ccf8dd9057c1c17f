import { DELIVERY_DELAYS_MS } from '../../../shared/delivery-schedule.ts'
import type { DeliveryRow } from '../../protocol.ts'
import { serviceTime } from '../live.ts'
import { Badge } from './badge.tsx'
import { duration, Hidden, Text, Time } from './text.tsx'

type Step = 'good' | 'bad' | 'next' | 'open' | 'unused'

/** What became, or will become, of each of the attempts that a delivery may take. */
function stepsOf({ attempts, state, nextAttemptAt }: DeliveryRow): Step[] {
  const most = DELIVERY_DELAYS_MS.length + 1
  return Array.from({ length: Math.max(most, attempts.length) }, (_, index) => {
    const attempt = attempts[index]
    if (attempt) return attempt.ok ? 'good' : 'bad'
    if (state !== 'pending') return 'unused'
    return index === attempts.length ? (nextAttemptAt === undefined ? 'next' : 'open') : 'unused'
  })
}

/** The attempts at a glance. */
export function Marks({ delivery }: { delivery: DeliveryRow }) {
  const { attempts, state } = delivery
  return (
    <span class={state === 'pending' || state === 'undelivered' ? 'marks' : 'marks settled'}>
      {stepsOf(delivery).map((step, index) => (
        <i key={index} class={step} />
      ))}
      <Hidden>
        {state}, {attempts.length} {attempts.length === 1 ? 'attempt' : 'attempts'}
      </Hidden>
    </span>
  )
}

/** When the next one is due. */
export function NextAttempt({ at }: { at: number | undefined }) {
  if (at === undefined) return null
  return <span class="muted">retry in {duration(at - serviceTime.value)}</span>
}

const ORDINALS = ['First attempt', '1st retry', '2nd retry', '3rd retry', '4th retry'] as const

/** The attempts on a line of time: those that were, and those to come. */
export function Timeline({ delivery }: { delivery: DeliveryRow }) {
  const { attempts, nextAttemptAt } = delivery
  return (
    <ol class="timeline" aria-label="Attempts">
      {stepsOf(delivery).map((step, index) => {
        const attempt = attempts[index]
        const delay = DELIVERY_DELAYS_MS[index - 1]
        return (
          <li key={index} class={step}>
            <div class="when">
              <strong>{ORDINALS[index] ?? `Attempt ${index + 1}`}</strong>
              <span class="muted">
                {attempt ? (
                  <Time ms={attempt.at} />
                ) : step === 'open' && nextAttemptAt !== undefined ? (
                  <>
                    in {duration(nextAttemptAt - serviceTime.value)}, at <Time ms={nextAttemptAt} />
                  </>
                ) : step === 'next' ? (
                  'under way'
                ) : delay !== undefined ? (
                  `${duration(delay)} after a failure`
                ) : (
                  ''
                )}
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
}
