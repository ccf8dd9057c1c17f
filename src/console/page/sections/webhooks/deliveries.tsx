import type { ComponentChildren } from 'preact'
import type { DeliveryRow } from '../../../protocol.ts'
import { deliveries, serviceTime } from '../../live.ts'
import { Badge, toneOf } from '../../parts/badge.tsx'
import { type Chip, FilteredPanel } from '../../parts/filtered-panel.tsx'
import { Link } from '../../parts/link.tsx'
import { type Columns, Table } from '../../parts/table.tsx'
import { cut, duration, Hidden, Name, Text, Time } from '../../parts/text.tsx'
import { pathOf } from '../../route.ts'

const STATE_TONES = { pending: 'busy', delivered: 'good', undelivered: 'bad', dropped: 'plain' } as const

const stateOf = ({ state, nextAttemptAt }: DeliveryRow): string =>
  state !== 'pending' ? state : nextAttemptAt === undefined ? 'sending' : 'waiting'

export const StateBadge = ({ row }: { row: DeliveryRow }) => <Badge tone={STATE_TONES[row.state]}>{stateOf(row)}</Badge>

const CHIPS: readonly Chip<DeliveryRow>[] = [
  ['waiting', 'Waiting', (row) => stateOf(row) === 'waiting'],
  ['delivered', 'Delivered', ({ state }) => state === 'delivered'],
  ['undelivered', 'Undelivered', ({ state }) => state === 'undelivered'],
  ['console', 'Console', ({ isFromConsole }) => isFromConsole === true],
]

/** The messages to endpoints, newest first. */
export const Deliveries = () => (
  <FilteredPanel
    title="Deliveries"
    label="Filter by event, user, URL or state"
    list={deliveries.value}
    textOf={textOf}
    chips={CHIPS}
    empty="No message has been sent yet."
  >
    {(rows) => <DeliveryTable rows={rows} />}
  </FilteredPanel>
)

const textOf = (row: DeliveryRow): string =>
  `${row.id} ${row.type} ${row.user} ${row.url} ${row.hook_id} ${stateOf(row)} ${row.lastStatus ?? ''}`.toLowerCase()

/** Whether a row and the row above are deliveries of one message. A redelivered message has rows of its own. */
const isSameMessage = (row: DeliveryRow, above: DeliveryRow | undefined): boolean =>
  above !== undefined && (row.redeliveryOf ?? row.id) === (above.redeliveryOf ?? above.id)

/** A cell that is the same for all deliveries of a message. Only the first row of the message shows it. */
const ofMessage =
  (cell: (row: DeliveryRow) => ComponentChildren) => (row: DeliveryRow, above: DeliveryRow | undefined) =>
    isSameMessage(row, above) ? <Hidden>{cell(row)}</Hidden> : cell(row)

const COLUMNS: Columns<DeliveryRow> = {
  at: ['Time', ofMessage(({ at }) => <Time ms={at} />)],
  event: [
    'Event',
    ofMessage(({ type, isTest }) => (
      <>
        <Text>{type}</Text>
        {isTest && <span class="muted test"> · test</span>}
      </>
    )),
  ],
  user: ['User', ofMessage(({ user }) => <Name>{user}</Name>)],
  endpoint: [
    'Endpoint',
    (row) => (
      <Link
        to={pathOf('webhooks', 'deliveries', row.key)}
        class="opens path"
        label={`${row.type} to ${row.url}, ${stateOf(row)}`}
      >
        <EndpointUrl url={row.url} />
      </Link>
    ),
  ],
  status: [
    'Status',
    ({ attempts, lastStatus }) => attempts > 0 && <Badge tone={toneOf(lastStatus)}>{lastStatus ?? 'none'}</Badge>,
  ],
  state: ['State', (row) => <StateBadge row={row} />],
  next: [
    'Next attempt',
    ({ nextAttemptAt: at, attempts }) =>
      at !== undefined && `in ${duration(at - serviceTime.value)}, ${attempts + 1} of 5`,
  ],
  mark: ['Mark', ofMessage(({ isFromConsole }) => isFromConsole && <Badge>console</Badge>)],
}

/** One row for each endpoint of a message. */
export const DeliveryTable = ({ rows }: { rows: readonly DeliveryRow[] }) => (
  <Table
    class="deliveries"
    columns={COLUMNS}
    rows={rows}
    keyOf={({ key }) => key}
    rowClass={(row, above) => (isSameMessage(row, above) ? 'same' : 'first')}
  />
)

/** A URL without its scheme. Narrow tables hide the host. */
function EndpointUrl({ url }: { url: string }) {
  const { host, pathname, search } = new URL(url)
  return (
    <span title={cut(url, 300)}>
      <span class="host muted">{host}</span>
      <Text>{pathname + search}</Text>
    </span>
  )
}
