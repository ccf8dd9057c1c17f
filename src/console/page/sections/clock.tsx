import { attempt, perform } from '../actions.ts'
import { clock, serviceTime } from '../live.ts'
import { Panel } from '../parts/panel.tsx'
import { clockTime, dayOf, duration } from '../parts/text.tsx'

const STEPS = [
  ['1 minute', 60_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
] as const

/** The time of the service: it runs, and can be moved forward. */
export function Clock() {
  const next = clock.value?.nextRetryAt
  const ahead = clock.value?.aheadMs ?? 0
  return (
    <Panel title="Clock">
      <p class="clock">
        <time dateTime={new Date(serviceTime.value).toISOString()}>{clockTime(serviceTime.value)}</time>
        <span class="muted">
          {dayOf(serviceTime.value)}
          {ahead > 0 && ` · ${duration(ahead)} ahead`}
        </span>
      </p>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={next === undefined}
          onClick={() => attempt(() => perform('advance', { toNextRetry: true }), 'The retry is on its way.')}
        >
          To the next retry
        </button>
        {STEPS.map(([name, ms]) => (
          <button
            key={ms}
            type="button"
            onClick={() => attempt(() => perform('advance', { ms }), `It is ${name} later.`)}
          >
            + {name}
          </button>
        ))}
      </div>
      <p class="hint">
        {next === undefined
          ? 'No retry is waiting.'
          : `The next retry is due in ${duration(next - serviceTime.value)}.`}
      </p>
    </Panel>
  )
}
