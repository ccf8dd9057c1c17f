import { attempt, perform } from '../actions.ts'
import { aheadMs, deliveries, serviceTime } from '../live.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { clockTime, dayOf, duration, OneLine, Text } from '../parts/text.tsx'
import { pathOf } from '../route.ts'

const STEPS = [
  ['1 minute', 60_000],
  ['1 hour', 3_600_000],
  ['1 day', 86_400_000],
] as const

/** The time of the service, which can be moved forward and back to now, and what is due. */
export function Clock({ brief = false }: { brief?: boolean }) {
  const now = serviceTime.value
  const due = deliveries.value
    .flatMap((row) => (row.nextAttemptAt === undefined ? [] : [{ ...row, dueAt: row.nextAttemptAt }]))
    .sort((one, other) => one.dueAt - other.dueAt)
  const [next] = due
  return (
    <Panel title="Clock" all={brief ? '/clock' : undefined}>
      <p class="clock">
        <time dateTime={new Date(now).toISOString()}>{clockTime(now)}</time>
        <span class="muted">
          {dayOf(now)} · {aheadMs.value === 0 ? 'now' : `${duration(aheadMs.value)} ahead of now`}
        </span>
      </p>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={next === undefined}
          onClick={() => attempt(() => perform('advance', { toNextRetry: true }), 'The clock is at the next retry.')}
        >
          To the next retry
        </button>
        {STEPS.map(([name, ms]) => (
          <button
            key={ms}
            type="button"
            onClick={() => attempt(() => perform('advance', { ms }), `The clock is ${name} further.`)}
          >
            + {name}
          </button>
        ))}
        <button
          type="button"
          disabled={aheadMs.value === 0}
          onClick={() => attempt(() => perform('resetClock', {}), 'The clock is back to now.')}
        >
          Back to now
        </button>
      </div>
      {!brief && <h3 class="minor">Due</h3>}
      {next === undefined ? (
        <Empty>No retry is due.</Empty>
      ) : brief ? (
        <p class="hint">The next retry is due in {duration(next.dueAt - now)}.</p>
      ) : (
        <ol class="rows">
          {due.slice(0, MAX_DUE).map((row) => (
            <li class="row due" key={row.key}>
              <span class="time">
                {clockTime(row.dueAt)} <span class="muted">in {duration(row.dueAt - now)}</span>
              </span>
              <Link to={pathOf('deliveries', row.key)}>
                <Text>{row.type}</Text>, retry {row.attempts} of 4
              </Link>
              <OneLine class="grow muted path">{`${row.user} → ${row.url}`}</OneLine>
            </li>
          ))}
        </ol>
      )}
      {!brief && due.length > MAX_DUE && (
        <p class="more muted">
          The first {MAX_DUE} of {due.length}
        </p>
      )}
    </Panel>
  )
}

const MAX_DUE = 100
