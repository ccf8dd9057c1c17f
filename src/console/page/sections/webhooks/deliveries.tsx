import { computed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { DeliveryRow } from '../../../protocol.ts'
import { deliveries, serviceTime } from '../../live.ts'
import { Badge, StatusBadge } from '../../parts/badge.tsx'
import { type Chip, FilteredPanel } from '../../parts/filtered-panel.tsx'
import { Line, Lines } from '../../parts/lines.tsx'
import { Link } from '../../parts/link.tsx'
import { type Columns, Table } from '../../parts/table.tsx'
import { About, count, cut, duration, Hidden, isOtherDay, OneLine, Text, Time } from '../../parts/text.tsx'
import { UserLink } from '../../parts/user-link.tsx'
import { pathOf } from '../../route.ts'

const STATE_TONES = {
  sending: 'busy',
  waiting: 'busy',
  delivered: 'good',
  undelivered: 'bad',
  redelivered: 'good',
  dropped: 'plain',
} as const

/** Identifies a message to a URL: the same for each of its deliveries. */
const messageOf = ({ id, hook_id, url }: DeliveryRow): string => JSON.stringify([id, hook_id, url])

/** The latest delivery of each message to each URL. */
const latest = computed(() => new Map([...deliveries.value.rows].reverse().map((row) => [messageOf(row), row])))

const stateOf = (row: DeliveryRow): keyof typeof STATE_TONES => {
  if (row.state === 'pending') return row.nextAttemptAt === undefined ? 'sending' : 'waiting'
  if (row.state !== 'undelivered') return row.state
  return latest.value.get(messageOf(row))?.state === 'delivered' ? 'redelivered' : 'undelivered'
}

export const StateBadge = ({ row }: { row: DeliveryRow }) => (
  <span class="state-badge">
    <Badge tone={STATE_TONES[stateOf(row)]}>{stateOf(row)}</Badge>
    {row.failures > 0 && (
      <span class="bad failed-mark" title={`${count(row.failures, 'attempt')} failed`}>
        !
      </span>
    )}
  </span>
)

/** Whether an attempt failed. The Test tool shows its failures itself. */
export const hasFailed = ({ failures, isTest }: DeliveryRow): boolean => failures > 0 && !isTest

const CHIPS: readonly Chip<DeliveryRow>[] = [
  ['failed', 'Failed at least once', hasFailed],
  ['waiting', 'Waiting', (row) => stateOf(row) === 'waiting'],
  ['delivered', 'Delivered', ({ state }) => state === 'delivered'],
  ['undelivered', 'Undelivered', (row) => stateOf(row) === 'undelivered'],
  ['fault', 'Injected fault', ({ fault }) => fault !== undefined],
  ['console', 'Console', ({ isFromConsole }) => isFromConsole === true],
]

/** The webhook messages, newest first. */
export const Deliveries = () => (
  <FilteredPanel
    title="Deliveries"
    name="deliveries"
    noun="delivery"
    label="Search deliveries"
    list={deliveries.value}
    searched={searched}
    chips={CHIPS}
    empty="No message has been sent yet."
  >
    {(rows) => <DeliveryTable rows={rows} />}
  </FilteredPanel>
)

const searched = (row: DeliveryRow) => ({
  text: `${row.id} ${row.type} ${row.item ?? ''} ${row.user} ${row.url} ${row.hook_id} ${stateOf(row)} ${row.statuses.join(' ')}`.toLowerCase(),
  statuses: row.statuses,
  user: row.user,
  operation: row.type,
  isFailed: hasFailed(row),
  isRetried: row.attempts > 1,
})

/** Whether a row and the row above are deliveries of one message. A redelivered message has rows of its own. */
const isSameMessage = (row: DeliveryRow, above: DeliveryRow | undefined): boolean =>
  above !== undefined && (row.redeliveryOf ?? row.id) === (above.redeliveryOf ?? above.id)

/** A cell that is the same for all deliveries of a message. Only the first row of the message shows it. */
const ofMessage =
  (cell: (row: DeliveryRow) => ComponentChildren) => (row: DeliveryRow, above: DeliveryRow | undefined) =>
    isSameMessage(row, above) ? <Hidden>{cell(row)}</Hidden> : cell(row)

export const linkTo = ({ key }: Pick<DeliveryRow, 'key'>): string => pathOf('webhooks', 'deliveries', key)

const labelOf = (row: DeliveryRow): string =>
  `${row.type} to ${row.url}, ${stateOf(row)}${row.failures > 0 ? ` after ${count(row.failures, 'failure')}` : ''}`

const COLUMNS: Columns<DeliveryRow> = {
  at: ['Time', ofMessage(({ at }) => <Time ms={at} />)],
  event: [
    'Event',
    ofMessage(({ type, isTest, ...row }) => (
      <>
        <Text>{type}</Text>
        <About {...row} />
        {isTest && <span class="muted test"> · test</span>}
      </>
    )),
  ],
  user: ['User ID', ofMessage(({ user, pid }) => <UserLink user={user} pid={pid} />)],
  target: [
    'URL',
    (row) => (
      <Link to={linkTo(row)} keepsFilters class="opens path" label={labelOf(row)}>
        <TargetUrl url={row.url} />
      </Link>
    ),
  ],
  status: ['Status', ({ attempts, lastStatus }) => attempts > 0 && <StatusBadge status={lastStatus} />],
  state: ['State', (row) => <StateBadge row={row} />],
  attempts: ['Attempts', ({ attempts }) => attempts],
  next: [
    'Next attempt',
    ({ nextAttemptAt: at, attempts }) =>
      at !== undefined && (
        <>
          in {duration(at - serviceTime.value)}
          <span class="attempt-number">, {attempts + 1} of 5</span>
        </>
      ),
  ],
  mark: [
    'Mark',
    ({ fault, isFromConsole }) => (
      <>
        {fault && <Badge tone="busy">fault</Badge>}
        {isFromConsole && <Badge>console</Badge>}
      </>
    ),
  ],
}

/** One row for each URL of a message. A narrow table hides the part of the URL that is the same in all rows. */
export function DeliveryTable({ rows }: { rows: readonly DeliveryRow[] }) {
  const urls = [...new Set(rows.map(({ url }) => url))].map((url) => new URL(url))
  const hosts = new Set(urls.map(({ host }) => host))
  const paths = new Set(urls.map(({ pathname, search }) => pathname + search))
  const shownPart = paths.size === 1 ? 'by-host' : hosts.size === 1 ? 'by-path' : ''
  const dated = rows.some(({ at }) => isOtherDay(at)) ? 'dated' : ''
  return (
    <Table
      class={`deliveries ${shownPart} ${dated}`}
      columns={COLUMNS}
      rows={rows}
      linkTo={linkTo}
      rowClass={(row, above) => (isSameMessage(row, above) ? 'same' : 'first')}
    />
  )
}

/** A URL without its scheme. */
function TargetUrl({ url }: { url: string }) {
  const { host, pathname, search } = new URL(url)
  return (
    <span title={cut(url, 300)}>
      <span class="host muted">{host}</span>
      <span class="url-path">
        <Text>{pathname + search}</Text>
      </span>
    </span>
  )
}

interface DeliveryLineProps {
  readonly row: DeliveryRow
  readonly keepsFilters?: boolean
}

/** A link to a delivery. */
export const DeliveryLine = ({ row, keepsFilters = false }: DeliveryLineProps) => (
  <Line
    badge={<StateBadge row={row} />}
    to={linkTo(row)}
    name={row.type}
    about={<About {...row} />}
    at={row.at}
    keepsFilters={keepsFilters}
  >
    {row.fault && <Badge tone="busy">fault</Badge>}
    <OneLine class="grow muted path">{row.url.replace(/^https?:\/\//, '')}</OneLine>
  </Line>
)

interface DeliveryLinesProps {
  readonly title: string
  readonly rows: readonly DeliveryRow[]
  /** Whether the item is itself a delivery, so that the filters of the list stay. */
  readonly keepsFilters?: boolean
}

/** Links to deliveries that belong to an item; nothing without deliveries. */
export const DeliveryLines = ({ title, rows, keepsFilters = false }: DeliveryLinesProps) => (
  <Lines title={title}>
    {rows.slice(0, 20).map((row) => (
      <DeliveryLine key={row.key} row={row} keepsFilters={keepsFilters} />
    ))}
  </Lines>
)
