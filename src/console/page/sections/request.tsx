import { useAnswer } from '../actions.ts'
import { requests } from '../live.ts'
import { Badge, toneOf } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { FAULT_KINDS } from '../parts/fault-kinds.ts'
import { Body, Code, Json } from '../parts/json.tsx'
import { AbsentItem, Facts, Item } from '../parts/panel.tsx'
import { OneLine, Text, Time } from '../parts/text.tsx'

/** A request and its answer, with the reason of a refusal. */
export function Request({ requestKey: key }: { requestKey: string }) {
  const row = requests.value.rows.find((each) => each.key === key)
  const { value: request, error } = useAnswer('readRequest', { key }, row?.durationMs)
  if (!request) return <AbsentItem title={`Request ${key}`} back="/requests" error={error} />
  const { operation, method, path, status, reason, fault, query, headers, body, answer, curl, isFromConsole } = request
  return (
    <Item
      title={operation ?? `${method} ${path}`}
      back="/requests"
      tools={curl !== undefined && <CopyButton text={curl} label="Copy as curl" />}
    >
      <p class="line">
        {isFromConsole ? <Badge>console</Badge> : <Badge tone={toneOf(status)}>{status ?? 'no answer'}</Badge>}
        <code class="one-line">
          <OneLine>{`${method} ${path}`}</OneLine>
        </code>
        <span class="muted">
          <Time ms={request.at} />
          {request.durationMs !== undefined && ` · ${request.durationMs} ms`}
        </span>
      </p>
      {isFromConsole && <p class="hint">Made with a button of this page, not by your code.</p>}
      {reason && (
        <p class="callout">
          <strong>Refused:</strong> <Text>{reason}</Text>
        </p>
      )}
      {fault && (
        <p class="callout">
          <strong>Injected fault: {FAULT_KINDS[fault][0]}.</strong>{' '}
          {request.handled ? 'The call took effect.' : 'The call had no effect.'}
        </p>
      )}
      {Object.keys(query).length > 0 && (
        <>
          <h3 class="minor">{isFromConsole ? 'Arguments' : 'Query'}</h3>
          <Facts facts={Object.entries(query).map(([name, values]) => [name, values.join(', ')])} />
        </>
      )}
      {body && <Body title="Body" body={body} />}
      {answer && <Body title="Answer" body={answer.body} />}
      {!isFromConsole && (
        <details>
          <summary>Headers</summary>
          <h3 class="minor">Request</h3>
          <Json value={headers} />
          <h3 class="minor">Answer</h3>
          <Json value={answer?.headers ?? {}} />
        </details>
      )}
      {curl !== undefined && (
        <details>
          <summary>As curl</summary>
          <Code>{curl}</Code>
        </details>
      )}
    </Item>
  )
}
