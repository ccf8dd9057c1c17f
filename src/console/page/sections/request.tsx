import { FAULT_KINDS } from '../../fault-kinds.ts'
import type { RequestDetails, RequestRow } from '../../protocol.ts'
import { useAction } from '../actions.ts'
import { deliveries, requests } from '../live.ts'
import { Badge, StatusBadge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Body, Code, Json } from '../parts/json.tsx'
import { Link } from '../parts/link.tsx'
import { AbsentItem, CompareLink, Facts, Item } from '../parts/panel.tsx'
import { type RowView, TitledRows } from '../parts/rows.tsx'
import { OneLine, Text, Time } from '../parts/text.tsx'
import { UserLink } from '../parts/user-link.tsx'
import { callPath } from './call-method.tsx'
import { effectOf, isLost, linkTo, requestView, titleOf } from './requests.tsx'
import { deliveryView, linkTo as linkToDelivery } from './webhooks/deliveries.tsx'

/** A request and its response, with the reason of a refusal, the attempts of its call and the messages that followed. */
export function Request({ requestKey: key }: { requestKey: string }) {
  const row = requests.value.rows.find((each) => each.key === key)
  const { value: request, error } = useAction('readRequest', { key }, row?.durationMs)
  if (!request) return <AbsentItem title={`Request ${key}`} back="/requests" error={error} />
  const { method, path, status, reason, fault, query, headers, body, response, curl, typescript, isFromConsole } =
    request
  const firstKey = request.firstKey ?? key
  const attempts = requests.value.rows.filter((each) => each.key === firstKey || each.firstKey === firstKey).reverse()
  return (
    <Item
      title={titleOf(request)}
      back="/requests"
      tools={
        <>
          {curl !== undefined && <CopyButton text={curl} label="Copy as curl" />}
          {request.given && (
            <Link to={callPath(key)} keepsFilters class="button small">
              Edit and send
            </Link>
          )}
          <CompareLink back="/requests" itemKey={key} />
        </>
      }
    >
      <p class="line">
        {isFromConsole ? <Badge tone="good">done</Badge> : <StatusBadge status={status} none="no response" />}
        <code class="one-line">
          <OneLine>{`${method} ${path}`}</OneLine>
        </code>
        <span class="muted">
          <UserLink {...request} />
          {request.user && ' · '}
          <Time ms={request.at} />
          {request.durationMs !== undefined && ` · ${request.durationMs} ms`}
        </span>
      </p>
      {request.isFromForm && <p class="hint">Sent by the form of this page, over HTTP.</p>}
      {isFromConsole && <p class="hint">Made by this page or under /control/, not by a call of your code.</p>}
      {reason && (
        <p class="callout">
          <strong>Refused:</strong> <Text>{reason}</Text>
          <AppliedBefore request={request} />
        </p>
      )}
      {fault && (
        <p class="callout">
          <strong>Injected fault: {FAULT_KINDS[fault][0]}.</strong> {describeEffect(request)}
        </p>
      )}
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
        <details>
          <summary>Headers</summary>
          <h3 class="minor">Request</h3>
          <Json value={headers} />
          <h3 class="minor">Response</h3>
          <Json value={response?.headers ?? {}} />
        </details>
      )}
      {curl !== undefined && (
        <details>
          <summary>As curl</summary>
          <Code>{curl}</Code>
        </details>
      )}
      {typescript !== undefined && (
        <details>
          <summary>As TypeScript</summary>
          <CopyButton text={typescript} label="Copy the lines" />
          <Code>{typescript}</Code>
        </details>
      )}
    </Item>
  )
}

const attemptView = (row: RequestRow): RowView => ({
  ...requestView(row),
  name: nameOf(row),
  about: undefined,
  who: undefined,
  note: effectOf(row),
})

const nameOf = ({ attempt = 1 }: Pick<RequestDetails, 'attempt'>): string => `Attempt ${attempt}`

/** Describes what a request with a fault did. */
function describeEffect(request: RequestDetails): string {
  if (!request.handled) return 'The service did not process this attempt. It had no effect.'
  const loss = isLost(request) ? ' Only its response was lost.' : ''
  return request.reason === undefined
    ? `The service processed this attempt, and it took effect.${loss}`
    : `The service processed this attempt and refused it, so it had no effect.${loss}`
}

/** For a refused award: the request that gave the XP. */
function AppliedBefore({ request: { key, firstKey = key, appliedBy } }: { request: RequestDetails }) {
  const applied = requests.value.rows.find((row) => row.key === appliedBy)
  if (!applied) return null
  const isSameCall = (applied.firstKey ?? applied.key) === firstKey
  return (
    <>
      <br />
      <Link to={linkTo(applied)} keepsFilters>
        {isSameCall ? nameOf(applied) : `Request ${applied.key}`}
      </Link>{' '}
      gave this award at <Time ms={applied.at} />
      {isLost(applied) && '; only its response was lost'}. This one was processed and refused, so it gave no XP.
    </>
  )
}
