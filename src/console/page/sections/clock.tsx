import { computed } from '@preact/signals'
import type { DeliveryRow } from '../../protocol.ts'
import { perform, run } from '../actions.ts'
import { aheadMs, deliveries, serviceTime } from '../live.ts'
import { Empty, Panel } from '../parts/panel.tsx'
import { Rows, type RowView } from '../parts/rows.tsx'
import { clockTime, dayOf, duration, Time } from '../parts/text.tsx'
import { deliveryView, linkTo } from './webhooks/deliveries.tsx'

const STEPS = [
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
] as const

/** The deliveries with a scheduled attempt, the next one first. */
export const due = computed(() =>
  deliveries.value.rows
    .flatMap((row) => (row.nextAttemptAt === undefined ? [] : [{ ...row, dueAt: row.nextAttemptAt }]))
    .sort((one, other) => one.dueAt - other.dueAt),
)

/** The time of the service, buttons that move it, and the scheduled retries. */
export function Clock() {
  const now = serviceTime.value
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
      <DueRows rows={due.value} />
    </Panel>
  )
}

interface DueRow extends DeliveryRow {
  readonly dueAt: number
}

const dueView = (row: DueRow): RowView => ({ ...deliveryView(row), at: <Time ms={row.dueAt} /> })

/** Deliveries with the time of their next attempt. */
export const DueRows = ({ rows }: { rows: readonly DueRow[] }) =>
  rows.length === 0 ? (
    <Empty>No retry is scheduled.</Empty>
  ) : (
    <Rows label="Scheduled retries" class="due" rows={rows} linkTo={linkTo} view={dueView} />
  )
