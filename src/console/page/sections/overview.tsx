import { computed } from '@preact/signals'
import type { RequestRow } from '../../protocol.ts'
import { deliveries, requests, serviceTime } from '../live.ts'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { amount, OneLine } from '../parts/text.tsx'
import { callPath } from './call-method.tsx'
import { DueLines, due } from './clock.tsx'
import { hasFailed as isFailedCall, RequestLine } from './requests.tsx'
import { DeliveryLine, hasFailed as isFailedDelivery } from './webhooks/deliveries.tsx'

const RECENT_MS = 10 * 60_000
const MAX_LINES = 8

let hadTraffic = false

/** Whether a request or a message has come. Clearing the lists does not change it. */
export const hasTraffic = computed(() => {
  hadTraffic ||= requests.value.rows.length + deliveries.value.rows.length > 0
  return hadTraffic
})

/** What a developer looks for first: recent failures, the next retries and the newest calls. */
export function Overview() {
  const newest = requests.value.rows.slice(0, MAX_LINES)
  return (
    <div class="overview">
      <Failures />
      <Panel title="Due next" tools={<Link to="/clock">Clock</Link>}>
        {due.value.length === 0 && <Empty>No retry is scheduled.</Empty>}
        <DueLines rows={due.value.slice(0, MAX_LINES)} />
        <More number={due.value.length - MAX_LINES} to="/clock" />
      </Panel>
      <Panel
        title="Newest requests"
        tools={
          <>
            <Link to="/start">Call from your code</Link>
            <Link to={callPath()} class="button small">
              Try a call
            </Link>
          </>
        }
      >
        {newest.length === 0 && <Empty>The list is empty.</Empty>}
        <ol class="rows">
          {newest.map((row) => (
            <CallLine key={row.key} row={row} />
          ))}
        </ol>
        <More number={requests.value.rows.length - MAX_LINES} to="/requests" />
      </Panel>
    </div>
  )
}

function Failures() {
  const since = serviceTime.value - RECENT_MS
  const calls = requests.value.rows.filter((row) => row.at >= since && isFailedCall(row))
  const messages = deliveries.value.rows.filter(
    (row) => (row.at >= since || row.state === 'pending') && isFailedDelivery(row),
  )
  const all = [
    ...calls.map((call) => ({ at: call.at, call })),
    ...messages.map((message) => ({ at: message.at, message })),
  ]
    .sort((one, other) => other.at - one.at)
    .slice(0, MAX_LINES)
  return (
    <Panel title="Failures of the last 10 minutes">
      {all.length === 0 && <Empty>None.</Empty>}
      <ol class="rows">
        {all.map((each) =>
          'call' in each ? (
            <CallLine key={each.call.key} row={each.call} />
          ) : (
            <DeliveryLine key={each.message.key} row={each.message} />
          ),
        )}
      </ol>
      <More number={calls.length - MAX_LINES} to="/requests?find=is:failed" noun="failed calls" />
      <More number={messages.length - MAX_LINES} to="/webhooks?show=failed" noun="failed deliveries" />
    </Panel>
  )
}

const CallLine = ({ row }: { row: RequestRow }) => (
  <RequestLine row={row}>
    <OneLine class="grow muted">{row.reason ?? row.subject}</OneLine>
  </RequestLine>
)

/** A link to the rest of a list; nothing without a rest. */
const More = ({ number, to, noun = 'more' }: { number: number; to: string; noun?: string }) =>
  number <= 0 ? null : (
    <p class="more">
      <Link to={to}>
        {amount(noun === 'more' ? number : number + MAX_LINES)} {noun}
      </Link>
    </p>
  )
