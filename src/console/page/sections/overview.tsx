import { computed } from '@preact/signals'
import type { DeliveryRow, RequestRow } from '../../protocol.ts'
import { deliveries, requests, serviceTime } from '../live.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Rows } from '../parts/rows.tsx'
import { amount, count } from '../parts/text.tsx'
import { DueRows, due } from './clock.tsx'
import { hasFailed as isFailedCall, linkTo, requestView } from './requests.tsx'
import { deliveryView, hasFailed as isFailedDelivery, linkTo as linkToDelivery } from './webhooks/deliveries.tsx'

const RECENT_MS = 10 * 60_000
const MAX_LINES = 8

/** Whether a request or a message has come. */
export const hasTraffic = computed(() =>
  [requests.value, deliveries.value].some(({ rows, cleared }) => rows.length + cleared > 0),
)

/** What a developer looks for first: recent failures, with their share, and the next retries. */
export const Overview = () => (
  <>
    <Failures />
    <Panel title="Due next" tools={<Link to="/clock">Clock</Link>}>
      <DueRows rows={due.value.slice(0, MAX_LINES)} />
      {due.value.length > MAX_LINES && (
        <p class="more">
          <Link to="/clock">{amount(due.value.length - MAX_LINES)} more</Link>
        </p>
      )}
    </Panel>
  </>
)

function Failures() {
  const since = serviceTime.value - RECENT_MS
  const recentCalls = requests.value.rows.filter(({ at, isFromConsole }) => at >= since && !isFromConsole)
  const recentMessages = deliveries.value.rows.filter((row) => row.at >= since || row.state === 'pending')
  const calls = recentCalls.filter(isFailedCall)
  const messages = recentMessages.filter(isFailedDelivery)
  const all = [...calls, ...messages].sort((one, other) => other.at - one.at).slice(0, MAX_LINES)
  return (
    <Panel title="Failures of the last 10 minutes" tools={<Link to="/start">Call from your code</Link>}>
      <p class="line">
        <Share failed={calls.length} of={recentCalls.length} noun="call" to="/requests?find=is:failed" />
        <Share failed={messages.length} of={recentMessages.length} noun="delivery" to="/webhooks?show=failed" />
      </p>
      {all.length === 0 ? <Empty>None.</Empty> : <Rows label="Failures" rows={all} linkTo={linkOf} view={viewOf} />}
    </Panel>
  )
}

/** How many calls or deliveries failed, with a link to them. */
const Share = ({ failed, of, noun, to }: { failed: number; of: number; noun: string; to: string }) => (
  <span>
    <Link to={to}>
      {amount(failed)} of {count(of, noun)}
    </Link>{' '}
    failed{of > 0 && ` (${Number(((100 * failed) / of).toPrecision(2))} %)`}
  </span>
)

const isCall = (row: RequestRow | DeliveryRow): row is RequestRow => 'method' in row

const linkOf = (row: RequestRow | DeliveryRow) => (isCall(row) ? linkTo(row) : linkToDelivery(row))

const viewOf = (row: RequestRow | DeliveryRow) => (isCall(row) ? requestView(row) : deliveryView(row))
