import { Fragment } from 'preact'
import type { DeliveryRow } from '../../../protocol.ts'
import { deliveries, discarded, serviceTime } from '../../live.ts'
import { Badge, toneOf } from '../../parts/badge.tsx'
import { type Chip, FilteredPanel } from '../../parts/filtered-panel.tsx'
import { Link } from '../../parts/link.tsx'
import { Table } from '../../parts/table.tsx'
import { cut, duration, Hidden, Name, Text, Time } from '../../parts/text.tsx'
import { pathOf } from '../../route.ts'

export const STATE_TONES = { pending: 'busy', delivered: 'good', undelivered: 'bad', dropped: 'plain' } as const

/** The state of a delivery in a word. */
export const stateOf = ({ state, nextAttemptAt }: DeliveryRow): string =>
  state !== 'pending' ? state : nextAttemptAt === undefined ? 'sending' : 'waiting'

const CHIPS: readonly [Chip<DeliveryRow>, ...Chip<DeliveryRow>[]] = [
  { value: '', label: 'All', fits: () => true },
  ...['waiting', 'delivered', 'undelivered'].map((state) => ({
    value: state,
    label: `${state.charAt(0).toUpperCase()}${state.slice(1)}`,
    fits: (row: DeliveryRow) => stateOf(row) === state,
  })),
  { value: 'console', label: 'Console', fits: ({ isFromConsole }) => isFromConsole === true },
]

/** The messages to endpoints, newest first. */
export function Deliveries({ current }: { current: string | undefined }) {
  return (
    <FilteredPanel
      title="Deliveries"
      label="Filter by event, user, URL or state"
      rows={deliveries.value}
      textOf={textOf}
      chips={CHIPS}
      empty="No message has been sent yet."
      discarded={discarded.value.deliveries}
    >
      {(rows) => <DeliveryTable rows={rows} current={current} />}
    </FilteredPanel>
  )
}

const textOf = (row: DeliveryRow): string =>
  `${row.id} ${row.type} ${row.user} ${row.url} ${row.hook_id} ${stateOf(row)} ${row.lastStatus ?? ''}`.toLowerCase()

interface DeliveryTableProps {
  readonly rows: readonly DeliveryRow[]
  readonly current?: string | undefined
}

const COLUMNS = {
  ...{ at: 'Time', event: 'Event', user: 'User', endpoint: 'Endpoint', status: 'Status', state: 'State' },
  ...{ next: 'Next attempt', mark: 'Mark' },
}

/** One line for each endpoint. Lines of one message stand together, under its first. */
export const DeliveryTable = ({ rows, current }: DeliveryTableProps) => (
  <Table class="deliveries" columns={COLUMNS} rows={rows}>
    {(row, index) => (
      <DeliveryLine
        key={row.key}
        row={row}
        index={index}
        isFirst={messageOf(row) !== messageOf(rows[index - 1])}
        isCurrent={row.key === current}
      />
    )}
  </Table>
)

/** Deliveries of one message at one time. One that was sent again stands alone. */
const messageOf = (row: DeliveryRow | undefined): string | undefined => row?.redeliveryOf ?? row?.id

interface DeliveryLineProps {
  readonly row: DeliveryRow
  readonly index: number
  readonly isFirst: boolean
  readonly isCurrent: boolean
}

function DeliveryLine({ row, index, isFirst, isCurrent }: DeliveryLineProps) {
  const { key, at, type, user, url, lastStatus, attempts, state, nextAttemptAt, isFromConsole, isTest } = row
  const Same = isFirst ? Fragment : Hidden
  return (
    <tr class={`${isFirst ? 'first' : 'same'}${isCurrent ? ' current' : ''}`} aria-rowindex={index + 2}>
      <td class="at">
        <Same>
          <Time ms={at} />
        </Same>
      </td>
      <td class="event">
        <Same>
          <Text>{type}</Text>
          {isTest && <span class="muted test"> · test</span>}
        </Same>
      </td>
      <td class="user">
        <Same>
          <Name>{user}</Name>
        </Same>
      </td>
      <td class="endpoint">
        <Link to={pathOf('deliveries', key)} class="opens path" label={`${type} to ${url}, ${stateOf(row)}`}>
          <EndpointUrl url={url} />
        </Link>
      </td>
      <td class="status">{attempts > 0 && <Badge tone={toneOf(lastStatus)}>{lastStatus ?? 'none'}</Badge>}</td>
      <td class="state">
        <Badge tone={STATE_TONES[state]}>{stateOf(row)}</Badge>
      </td>
      <td class="next">
        {nextAttemptAt !== undefined && `in ${duration(nextAttemptAt - serviceTime.value)}, ${attempts + 1} of 5`}
      </td>
      <td class="mark">
        <Same>{isFromConsole && <Badge>console</Badge>}</Same>
      </td>
    </tr>
  )
}

/** A URL without its scheme. Narrow tables leave the host out, too. */
function EndpointUrl({ url }: { url: string }) {
  const { host, pathname, search } = new URL(url)
  return (
    <span title={cut(url, 300)}>
      <span class="host muted">{host}</span>
      <Text>{pathname + search}</Text>
    </span>
  )
}
