import { computed } from '@preact/signals'
import { FAULT_KINDS } from '../../fault-kinds.ts'
import type { RequestDetails, RequestRow } from '../../protocol.ts'
import { useAction } from '../actions.ts'
import { deliveries, requests, service } from '../live.ts'
import { CopyButton, Link, UserLink } from '../parts/controls.tsx'
import { Body, Code, Json } from '../parts/json.tsx'
import { type Chip, FilteredList } from '../parts/list.tsx'
import { AbsentItem, Callout, Facts, Fold, Item, ItemTools } from '../parts/panel.tsx'
import { type RowView, TitledRows } from '../parts/rows.tsx'
import { About, Badge, nameOf, OneLine, StatusBadge, safe, Time, titleOf } from '../parts/text.tsx'
import { pathOf } from '../route.ts'
import { callPath } from './call-method.tsx'
import { deliveryView, linkTo as linkToDelivery } from './deliveries.tsx'

const hasStatus = (first: number) => (row: RequestRow) => Math.floor((row.status ?? 0) / 100) === first

const CHIPS: readonly Chip<RequestRow>[] = [
  ['2xx', '2xx', hasStatus(2)],
  ['4xx', '4xx', hasStatus(4)],
  ['5xx', '5xx', hasStatus(5)],
  ['lost', 'No response', ({ status, isFromConsole }) => status === undefined && !isFromConsole],
  ['refused', 'Refused only', ({ reason }) => reason !== undefined],
  ['fault', 'Injected fault', ({ fault }) => fault !== undefined],
  ['console', 'Console', ({ isFromConsole, isFromForm }) => (isFromConsole ?? isFromForm) === true],
]

/** The calls that the service has received, newest first. The attempts of a call stand at the place of the latest one. */
export const Requests = () => (
  <FilteredList
    name="requests"
    noun="request"
    list={requests.value}
    empty="No requests yet. Calls from your code appear here."
    arrange={(rows) => [...Map.groupBy(rows, callOf).values()].flat()}
    {...{ chips: CHIPS, headings: HEADINGS, searched, linkTo, view: requestView }}
  />
)

/** Whether a call of your code had no success. */
export const hasFailed = ({ status, isFromConsole }: RequestRow): boolean =>
  !isFromConsole && (status === undefined || status >= 400)

/** Whether a fault kept the response of the service from the client. */
const isLost = ({ fault }: RequestRow): boolean => fault !== undefined && fault !== 'drip' && fault !== 'delay'

/** What a call did, in words. */
function effectOf(row: RequestRow): string {
  const { handled, reason, method } = row
  const effect = !handled ? 'no effect' : reason !== undefined ? 'refused' : method === 'GET' ? 'processed' : 'applied'
  return handled && isLost(row) ? `${effect}, response lost` : effect
}

/** The status of a call; `none` stands for no response. An action of the page is always done. */
const ResultBadge = ({ row, none }: { row: RequestRow; none?: string }) =>
  row.isFromConsole ? <Badge tone="good">done</Badge> : <StatusBadge status={row.status} none={none} />

/** The keys of the calls that were sent again. */
const retried = computed(() => new Set(requests.value.rows.flatMap(({ firstKey }) => firstKey ?? [])))

const searched = (row: RequestRow) => ({
  text: row.text,
  statuses: row.isFromConsole ? [] : [String(row.status ?? 'none')],
  user: [row.user, row.referrer, row.ref_id].filter(Boolean).join(' '),
  operation: titleOf(row),
  isFailed: hasFailed(row),
  isRetried: row.attempt !== undefined || retried.value.has(row.key),
})

/** The users of a call: who it is about, and who referred them. */
export const Who = ({ subject, user, platform, pid, referrer, ref_id }: RequestRow) => (
  <span title={subject}>
    {user === undefined ? subject && nameOf(subject) : <UserLink user={user} platform={platform} pid={pid} />}
    <span class="muted">
      {(referrer ?? ref_id) !== undefined && ' by '}
      {referrer ? <UserLink user={referrer} platform={platform} pid={pid} /> : ref_id && safe(ref_id)}
      {pid && (subject === '' || service.value.campaigns.length > 1) && safe(subject ? ` · ${pid}` : pid)}
    </span>
  </span>
)

/** Why a call was refused, or what its fault did. */
const Note = (row: RequestRow) => (
  <>
    {row.fault && <Badge tone="busy">fault</Badge>}
    {row.reason !== undefined ? (
      <OneLine class="needs" text={row.reason} />
    ) : (
      row.fault && <OneLine text={`${FAULT_KINDS[row.fault][0]}: ${row.handled ? 'applied' : 'no effect'}`} />
    )}
  </>
)

/** A request as a row. */
export const requestView = (row: RequestRow, above?: RequestRow): RowView => ({
  at: <Time ms={row.at} />,
  state: <ResultBadge row={row} />,
  name: titleOf(row),
  about: <About {...row} more={row.attempt !== undefined && `attempt ${row.attempt}`} />,
  who: <Who {...row} />,
  note: <Note {...row} />,
  end: row.durationMs !== undefined && `${row.durationMs} ms`,
  isSame: above !== undefined && callOf(row) === callOf(above),
})

export const linkTo = ({ key }: RequestRow): string => pathOf('requests', key)
const callOf = ({ key, firstKey }: RequestRow): string => firstKey ?? key
const HEADINGS = { at: 'Time', state: 'Status', name: 'Operation', who: 'User', note: 'Note', end: 'Took' }

/** A request and its response, with the reason of a refusal, the attempts of its call and the messages that followed. */
export function Request({ requestKey: key }: { requestKey: string }) {
  const row = requests.value.rows.find((each) => each.key === key)
  const { value: request, error } = useAction('readRequest', { key }, row?.durationMs)
  if (!request) return <AbsentItem title={`Request ${key}`} back="/requests" error={error} />
  const { reason, fault, query, headers, body, response, curl, typescript, isFromConsole } = request
  const firstKey = request.firstKey ?? key
  const attempts = requests.value.rows.filter((each) => each.key === firstKey || each.firstKey === firstKey).reverse()
  const typescriptLines = typescript !== undefined && [
    <CopyButton key="copy" text={typescript} label="Copy the lines" />,
    <Code key="code" text={typescript} />,
  ]
  const tools = <ItemTools back="/requests" itemKey={key} edit={request.given && callPath(key)} curl={curl} />
  return (
    <Item title={titleOf(request)} back="/requests" tools={tools}>
      <div class="flow line">
        <ResultBadge row={request} none="no response" />
        <OneLine class="mono" text={`${request.method} ${request.path}`} />
        <span class="muted">
          <UserLink {...request} />
          {request.user && ' · '}
          <Time ms={request.at} />
          {request.durationMs !== undefined && ` · ${request.durationMs} ms`}
        </span>
      </div>
      {request.isFromForm && <p class="hint">Sent by the form of this page, over HTTP.</p>}
      {isFromConsole && <p class="hint">Made by this page or under /control/, not by a call of your code.</p>}
      {reason && <Callout title="Refused:" text={[safe(reason), <AppliedBefore key="applied" request={request} />]} />}
      {fault && <Callout title={`Injected fault: ${FAULT_KINDS[fault][0]}.`} text={describeEffect(request)} />}
      <TitledRows
        title="Attempts: the same request, sent again after a failure"
        class="requests"
        rows={attempts.length > 1 ? attempts : []}
        linkTo={linkTo}
        view={attemptView}
      />
      <TitledRows
        title="Messages that followed"
        rows={deliveries.value.rows.filter(({ cause }) => cause === key)}
        linkTo={linkToDelivery}
        view={deliveryView}
      />
      {Object.keys(query).length > 0 && (
        <>
          <h3 class="minor">{isFromConsole ? 'Arguments' : 'Query'}</h3>
          <Facts facts={Object.entries(query).map(([name, values]) => [name, values.join(', ')])} />
        </>
      )}
      {body && <Body title="Body" body={body} />}
      {response && <Body title="Response" body={response.body} />}
      {!isFromConsole && (
        <Fold title="Headers" content={<Json value={{ request: headers, response: response?.headers ?? null }} />} />
      )}
      {curl !== undefined && <Fold title="As curl" content={<Code text={curl} />} />}
      {typescript !== undefined && <Fold title="As TypeScript" content={typescriptLines} />}
    </Item>
  )
}

const attemptView = (row: RequestRow): RowView => {
  const { at, state, end } = requestView(row)
  return { at, state, name: attemptName(row), note: effectOf(row), end }
}

const attemptName = ({ attempt = 1 }: Pick<RequestDetails, 'attempt'>): string => `Attempt ${attempt}`

/** Describes what a request with a fault did. */
function describeEffect(request: RequestDetails): string {
  if (!request.handled) return 'The service did not process this attempt. It had no effect.'
  const effect = request.reason === undefined ? ', and it took effect' : ' and refused it, so it had no effect'
  return `The service processed this attempt${effect}.${isLost(request) ? ' Only its response was lost.' : ''}`
}

/** For a refused award: the request that gave the XP. */
function AppliedBefore({ request: { key, firstKey = key, appliedBy } }: { request: RequestDetails }) {
  const applied = requests.value.rows.find((row) => row.key === appliedBy)
  if (!applied) return null
  const isSameCall = (applied.firstKey ?? applied.key) === firstKey
  return (
    <>
      <br />
      <Link to={linkTo(applied)} text={isSameCall ? attemptName(applied) : `Request ${applied.key}`} /> gave this award
      at <Time ms={applied.at} />
      {isLost(applied) && '; only its response was lost'}. This one was processed and refused, so it gave no XP.
    </>
  )
}
