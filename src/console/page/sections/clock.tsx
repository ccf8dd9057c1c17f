import { computed } from '@preact/signals'
import type { DeliveryRow } from '../../protocol.ts'
import { perform, run } from '../actions.ts'
import { aheadMs, deliveries, serviceTime } from '../live.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { About, clockTime, dayOf, duration, OneLine, Text, Time } from '../parts/text.tsx'
import { UserLink } from '../parts/user-link.tsx'
import { pathOf } from '../route.ts'

const STEPS = [
  ['1 minute', 60_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
] as const

const MAX_SHOWN = 100

/** The deliveries with a scheduled attempt, the next one first. */
export const due = computed(() =>
  deliveries.value.rows
    .flatMap((row) => (row.nextAttemptAt === undefined ? [] : [{ ...row, dueAt: row.nextAttemptAt }]))
    .sort((one, other) => one.dueAt - other.dueAt),
)

/** The time of the service, buttons that move it, and the scheduled retries. */
export function Clock() {
  const now = serviceTime.value
  const shown = due.value.slice(0, MAX_SHOWN)
  return (
    <Panel title="Clock">
      <p class="clock">
        <time dateTime={new Date(now).toISOString()}>{clockTime(now)}</time>
        <span class="muted">
          {dayOf(now)} · {aheadMs.value === 0 ? 'now' : `${duration(aheadMs.value)} ahead of now`}
        </span>
      </p>
      <div class="buttons clock-buttons">
        <button
          type="button"
          class="primary"
          disabled={due.value.length === 0}
          onClick={() => run(() => perform('advanceToNextRetry', {}), 'The clock is at the next retry.')}
        >
          To the next retry
        </button>
        {STEPS.map(([name, ms]) => (
          <button
            key={ms}
            type="button"
            onClick={() => run(() => perform('advance', { ms }), `The clock has moved by ${name}.`)}
          >
            + {name}
          </button>
        ))}
        <button
          type="button"
          disabled={aheadMs.value === 0}
          onClick={() => run(() => perform('resetClock', {}), 'The clock is back to now.')}
        >
          Back to now
        </button>
      </div>
      <h3 class="minor">Scheduled retries</h3>
      {due.value.length === 0 && <Empty>No retry is scheduled.</Empty>}
      <DueLines rows={shown} />
      {due.value.length > shown.length && (
        <p class="more muted">
          The first {shown.length} of {due.value.length}
        </p>
      )}
    </Panel>
  )
}

/** Links to deliveries, with the time of their next attempt. */
export const DueLines = ({ rows }: { rows: readonly (DeliveryRow & { readonly dueAt: number })[] }) => (
  <ol class="rows">
    {rows.map((row) => (
      <li class="row due" key={row.key}>
        <span class="time">
          <Time ms={row.dueAt} /> <span class="muted">in {duration(row.dueAt - serviceTime.value)}</span>
        </span>
        <Link to={pathOf('webhooks', 'deliveries', row.key)}>
          <Text>{row.type}</Text>
          <About {...row} />, {row.attempts === 0 ? 'first attempt' : `retry ${row.attempts} of 4`}
        </Link>
        <UserLink {...row} />
        <OneLine class="grow muted path">{`→ ${row.url}`}</OneLine>
      </li>
    ))}
  </ol>
)
