import { computed } from '@preact/signals'
import type { DeliveryRow, RequestRow } from '../../protocol.ts'
import { deliveries, requests, service, serviceTime } from '../live.ts'
import { CopyButton, Link } from '../parts/controls.tsx'
import { Code } from '../parts/json.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Rows } from '../parts/rows.tsx'
import { amount, count } from '../parts/text.tsx'
import { baseUrl } from '../route.ts'
import { callPath } from './call-method.tsx'
import { DueRows, due } from './clock.tsx'
import { deliveryView, hasFailed as isFailedDelivery, linkTo as linkToDelivery } from './deliveries.tsx'
import { hasFailed as isFailedCall, linkTo, Requests, requestView } from './requests.tsx'

const RECENT_MS = 10 * 60_000
const MAX_LINES = 8

/** Whether a request or a message has come. */
const hasTraffic = computed(() =>
  [requests.value, deliveries.value].some(({ rows, cleared }) => rows.length + cleared > 0),
)

/** Whether a call from outside the console has arrived. Clearing the list does not change it. */
const hasCalls = computed(
  () => requests.value.cleared > 0 || requests.value.rows.some(({ isFromConsole }) => !isFromConsole),
)

/** Shows recent failures with their share, and the next retries. */
export const Overview = () =>
  !hasTraffic.value ? (
    <RequestsOrStart />
  ) : (
    <>
      <Failures />
      <Panel title="Due next" tools={<Link to="/clock" text="Clock" />}>
        <DueRows rows={due.value.slice(0, MAX_LINES)} />
        {due.value.length > MAX_LINES && <Link to="/clock" text={`${amount(due.value.length - MAX_LINES)} more`} />}
      </Panel>
    </>
  )

/** Shows the requests. Before the first call, shows how to make one. */
export const RequestsOrStart = () => (
  <>
    {!hasCalls.value && <Start />}
    <Requests />
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
    <Panel title="Failures of the last 10 minutes" tools={<Link to="/start" text="Call from your code" />}>
      <p class="flow line">
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
    <Link to={to} text={`${amount(failed)} of ${count(of, noun)}`} /> failed
    {of > 0 && ` (${Number(((100 * failed) / of).toPrecision(2))} %)`}
  </span>
)

const isCall = (row: RequestRow | DeliveryRow): row is RequestRow => 'method' in row

const linkOf = (row: RequestRow | DeliveryRow) => (isCall(row) ? linkTo(row) : linkToDelivery(row))
const viewOf = (row: RequestRow | DeliveryRow) => (isCall(row) ? requestView(row) : deliveryView(row))

/** How to make the first call. */
export function Start() {
  const pid = service.value.campaigns[0]?.pid ?? 'demo'
  const lines = [
    "import { CampaignClient } from 'campaign-client'",
    `const client = new CampaignClient({ baseUrl: '${baseUrl}', accessToken: 'dev' })`,
    `console.log(await client.getUserProgress({ account: 'ada', platform: 'discord', pid: '${pid}' }))`,
  ].join('\n')
  return (
    <div class="start">
      <Panel title="Make your first call" tools={<CopyButton text={lines} label="Copy the three lines" />}>
        <p>
          Save these lines as <code>try.mjs</code> in a project with <code>campaign-client</code> installed:
        </p>
        <Code text={lines} />
        <p>Run them:</p>
        <Code text="node try.mjs" />
        <p class="muted">
          {service.value.acceptsAnyToken
            ? 'Any token works.'
            : "The service accepts only the tokens of --token or the seed: replace 'dev' with one of them."}{' '}
          {hasCalls.value ? 'Your calls are arriving.' : 'This panel stays here until the first call arrives.'}
        </p>
        <p class="muted">
          Without code: <Link to={callPath()} text="try a call" /> in a form.
        </p>
        <p class="muted">For the command and your own scripts, in a shell:</p>
        <Code text={`export CAMPAIGN_BASE_URL=${baseUrl} CAMPAIGN_ACCESS_TOKEN=dev`} />
      </Panel>
    </div>
  )
}
