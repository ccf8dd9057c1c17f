import type { ComponentChildren } from 'preact'
import { DELIVERY_FAULT_KINDS } from '../../../fault-kinds.ts'
import type { AttemptView, DeliveryRow } from '../../../protocol.ts'
import { serviceTime } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { Content, Json } from '../../parts/json.tsx'
import { amount, duration, Text, Time } from '../../parts/text.tsx'

const NAMES = ['First attempt', '1st retry', '2nd retry', '3rd retry', '4th retry'] as const

/** The attempts of a delivery that were made, and the next one. */
export const Attempts = ({ delivery, made }: { delivery: DeliveryRow; made: readonly AttemptView[] }) => (
  <ol class="timeline" aria-label="Attempts">
    {made.map((attempt, index) => (
      <li key={NAMES[index]} class={attempt.ok ? 'good' : 'bad'}>
        <When name={NAMES[index]}>
          <Time ms={attempt.at} /> · {amount(attempt.durationMs)} ms
        </When>
        <Result attempt={attempt} isExplained={made.findIndex(({ advice }) => advice === attempt.advice) < index} />
      </li>
    ))}
    {delivery.state === 'pending' && (
      <li class="next">
        <When name={NAMES[made.length]}>
          {delivery.nextAttemptAt === undefined ? (
            'sending'
          ) : (
            <>
              in {duration(delivery.nextAttemptAt - serviceTime.value)}, at <Time ms={delivery.nextAttemptAt} />
            </>
          )}
        </When>
      </li>
    )}
  </ol>
)

const When = ({ name, children }: { name: string | undefined; children: ComponentChildren }) => (
  <div class="when">
    <strong>{name}</strong>
    <span class="muted">{children}</span>
  </div>
)

const ResultBadge = ({ result: { ok, status } }: { result: Pick<AttemptView, 'ok' | 'status'> }) => (
  <Badge tone={ok ? 'good' : 'bad'}>{status ?? 'no response'}</Badge>
)

interface ResultProps {
  readonly attempt: AttemptView
  /** Whether an earlier attempt has the same advice. */
  readonly isExplained: boolean
}

/** The response to an attempt, or the reason why there was none, and what to do about a failure. */
const Result = ({ attempt, isExplained }: ResultProps) => (
  <>
    <p class="what">
      <ResultBadge result={attempt} />
      {attempt.fault && <Badge tone="busy">{`fault: ${DELIVERY_FAULT_KINDS[attempt.fault][0]}`}</Badge>}
      {attempt.error !== undefined && <Text>{attempt.error}</Text>}
      {attempt.response === '' && <span class="muted">empty response</span>}
    </p>
    {attempt.response && <Content text={attempt.response} />}
    {attempt.advice !== undefined && !isExplained && (
      <p class="callout">
        <strong>Hint:</strong> <Text>{attempt.advice}</Text>
      </p>
    )}
    {(isExplained ? [] : attempt.findings).map((finding) => (
      <p class="callout" key={finding}>
        <Text>{finding}</Text>
      </p>
    ))}
    {attempt.headers && (
      <details>
        <summary>Response headers</summary>
        <Json value={attempt.headers} />
      </details>
    )}
    {attempt.copy && (
      <p class="what">
        <ResultBadge result={attempt.copy} />
        <span class="muted">to the same message, sent a second time</span>
      </p>
    )}
  </>
)
