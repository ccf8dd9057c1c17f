import { computed } from '@preact/signals'
import type { DeliveryRow } from '../../../protocol.ts'
import { deliveries, service, serviceTime } from '../../live.ts'
import { Badge, StatusBadge } from '../../parts/badge.tsx'
import { type Chip, FilteredPanel } from '../../parts/filtered-panel.tsx'
import { Rows, type RowView } from '../../parts/rows.tsx'
import { About, count, duration, OneLine, Time } from '../../parts/text.tsx'
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
  <Badge tone={STATE_TONES[stateOf(row)]}>{stateOf(row)}</Badge>
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
    {(rows) => <DeliveryRows rows={rows} />}
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

export const linkTo = ({ key }: Pick<DeliveryRow, 'key'>): string => pathOf('webhooks', 'deliveries', key)

const labelOf = (row: DeliveryRow): string =>
  `${row.type} to ${row.url}, ${stateOf(row)}${row.failures > 0 ? ` after ${count(row.failures, 'failure')}` : ''}`

/** Names the receiver: its webhook, with the URL if the webhook has several or is gone. */
function receiverOf({ hook_id, url }: DeliveryRow): string {
  const webhook = service.value.webhooks.find((each) => each.hook_id === hook_id)
  return webhook?.urls.length === 1 ? hook_id : `${hook_id} · ${url.replace(/^https?:\/\//, '')}`
}

/** Says when the next attempt is, or how many were made. */
function attemptsOf({ attempts, nextAttemptAt }: DeliveryRow): string {
  if (nextAttemptAt === undefined) return attempts > 1 ? `${attempts} attempts` : ''
  const name = attempts === 0 ? 'first attempt' : `retry ${attempts}`
  return `${name} in ${duration(nextAttemptAt - serviceTime.value)}`
}

const Note = ({ row }: { row: DeliveryRow }) => (
  <>
    {row.fault && <Badge tone="busy">fault</Badge>}
    {attemptsOf(row) !== '' && <span class={row.failures > 0 ? 'needs' : 'muted'}>{attemptsOf(row)}</span>}
    <OneLine class="muted path">{receiverOf(row)}</OneLine>
  </>
)

const AboutMessage = (row: DeliveryRow) => (
  <>
    <About {...row} />
    {row.isTest && <span class="muted"> · test</span>}
  </>
)

/** A delivery as a row. */
export const deliveryView = (row: DeliveryRow, above?: DeliveryRow): RowView => ({
  at: <Time ms={row.at} />,
  state: <StateBadge row={row} />,
  name: row.type,
  about: <AboutMessage {...row} />,
  label: labelOf(row),
  who: <UserLink user={row.user} pid={row.pid} />,
  note: <Note row={row} />,
  end: row.attempts > 0 && <StatusBadge status={row.lastStatus} />,
  isSame: isSameMessage(row, above),
})

const HEADINGS = { at: 'Time', state: 'State', name: 'Event', who: 'User', note: 'Webhook', end: 'Status' }

/** One row for each URL of a message. */
const DeliveryRows = ({ rows }: { rows: readonly DeliveryRow[] }) => (
  <Rows label="Deliveries" class="deliveries" headings={HEADINGS} rows={rows} linkTo={linkTo} view={deliveryView} />
)
