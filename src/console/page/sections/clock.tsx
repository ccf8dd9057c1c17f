import { computed } from '@preact/signals'
import type { DeliveryRow } from '../../protocol.ts'
import { perform, run } from '../actions.ts'
import { aheadMs, deliveries, serviceTime } from '../live.ts'
import { Button } from '../parts/controls.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Rows, type RowView } from '../parts/rows.tsx'
import { clockTime, dayOf, duration, Time } from '../parts/text.tsx'
import { deliveryView, linkTo } from './deliveries.tsx'

/** The deliveries with a scheduled attempt, the next one first. */
export const due = computed(() =>
  deliveries.value.rows
    .filter(({ nextAttemptAt }) => nextAttemptAt !== undefined)
    .sort((one, other) => Number(one.nextAttemptAt) - Number(other.nextAttemptAt)),
)

const toNextRetry = () => run(() => perform('advanceToNextRetry', {}), 'The clock is at the next retry.')
const advance = (name: string, ms: number) => run(() => perform('advance', { ms }), `The clock has moved by ${name}.`)
const reset = () => run(() => perform('resetClock', {}), 'The clock is back to now.')

/** The time of the service, buttons that move it, and the scheduled retries. */
export function Clock() {
  const now = serviceTime.value
  return (
    <Panel title="Clock">
      <p class="flow clock">
        <time dateTime={new Date(now).toISOString()}>{clockTime(now)}</time>
        <span class="muted">
          {dayOf(now)} · {aheadMs.value === 0 ? 'now' : `${duration(aheadMs.value)} ahead of now`}
        </span>
      </p>
      <div class="flow buttons">
        <Button text="To the next retry" class="primary" disabled={due.value.length === 0} onClick={toNextRetry} />
        <Button text="+ 1 hour" onClick={() => advance('1 hour', 3_600_000)} />
        <Button text="+ 1 day" onClick={() => advance('1 day', 86_400_000)} />
        <Button text="Back to now" disabled={aheadMs.value === 0} onClick={reset} />
      </div>
      <h3 class="minor">Scheduled retries</h3>
      <DueRows rows={due.value} />
    </Panel>
  )
}

const dueView = (row: DeliveryRow): RowView => ({ ...deliveryView(row), at: <Time ms={row.nextAttemptAt ?? row.at} /> })

/** Deliveries with the time of their next attempt. */
export const DueRows = ({ rows }: { rows: readonly DeliveryRow[] }) =>
  rows.length === 0 ? (
    <Empty>No retry is scheduled.</Empty>
  ) : (
    <Rows label="Scheduled retries" rows={rows} linkTo={linkTo} view={dueView} />
  )
