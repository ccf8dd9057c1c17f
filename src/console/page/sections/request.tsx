import { useAnswer } from '../actions.ts'
import { Badge, toneOf } from '../parts/badge.tsx'
import { Body, Json } from '../parts/code.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Item, Pending } from '../parts/panel.tsx'
import { clockTime, Text } from '../parts/text.tsx'

/** A request and its answer, with the reason that the answer itself does not tell. */
export function Request({ number }: { number: number }) {
  const { value: request, error } = useAnswer('readRequest', { number })
  if (!request) {
    return (
      <Item title={`Request ${number}`} back="/requests">
        <Pending error={error} />
      </Item>
    )
  }
  const { operation, method, path, status, reason, fault, query, headers, body, answer } = request
  return (
    <Item
      title={<Text>{operation ?? `${method} ${path}`}</Text>}
      back="/requests"
      tools={<CopyButton text={request.curl} label="Copy as curl" />}
    >
      <p class="line">
        <Badge tone={toneOf(status)}>{status ?? 'no answer'}</Badge>
        <code>
          {method} <Text>{path}</Text>
        </code>
        <span class="muted">{clockTime(request.at)}</span>
      </p>
      {reason && (
        <p class="callout">
          <strong>Refused:</strong> <Text>{reason}</Text>
        </p>
      )}
      {fault && (
        <p class="callout busy">
          <strong>A fault was switched on:</strong> {fault}.{' '}
          {request.handled ? 'The request took effect all the same.' : 'The request took no effect.'}
        </p>
      )}
      {!request.authorized && !reason && <p class="callout">The request brought no token that lets it in.</p>}
      {Object.keys(query).length > 0 && (
        <>
          <h3 class="minor">Query</h3>
          <dl class="facts">
            {Object.entries(query).map(([name, values]) => (
              <div key={name}>
                <dt>
                  <Text>{name}</Text>
                </dt>
                <dd>
                  <Text>{values.join(', ')}</Text>
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {body !== undefined && (
        <>
          <h3 class="minor">Body</h3>
          {typeof body === 'string' ? <Body text={body} /> : <Json value={body} />}
        </>
      )}
      {answer && (
        <>
          <h3 class="minor">Answer</h3>
          <Body text={answer.body} />
        </>
      )}
      <details>
        <summary>Headers</summary>
        <h3 class="minor">Of the request</h3>
        <Json value={headers} />
        {answer && (
          <>
            <h3 class="minor">Of the answer</h3>
            <Json value={answer.headers} />
          </>
        )}
      </details>
      <details>
        <summary>As curl</summary>
        <pre class="code">
          <code>{request.curl}</code>
        </pre>
      </details>
    </Item>
  )
}
