import { toVisible } from '../../../shared/text.ts'
import type { DeliveryView, RequestView } from '../../protocol.ts'
import { useAction } from '../actions.ts'
import { diffLines } from '../diff.ts'
import { Link } from '../parts/link.tsx'
import { AbsentItem, Item } from '../parts/panel.tsx'
import { amount, Text, Time } from '../parts/text.tsx'
import * as requestTable from './requests.tsx'
import * as deliveryTable from './webhooks/deliveries.tsx'

const MAX_LINES = 2000

interface CompareProps {
  readonly keys: readonly [first: string, second: string]
}

/** The messages of two deliveries, side by side. */
export function CompareDeliveries({ keys: [first, second] }: CompareProps) {
  const loaded = [useAction('readDelivery', { key: first }, 0), useAction('readDelivery', { key: second }, 0)]
  const [one, other] = loaded.map(({ value }) => value)
  if (!one || !other) return <Absent back="/webhooks" loaded={loaded} />
  const nameOf = (delivery: DeliveryView) => ({ ...delivery, to: deliveryTable.linkTo(delivery), name: delivery.type })
  return (
    <Item title="Compare two messages" back="/webhooks">
      <Sides one={nameOf(one)} other={nameOf(other)} />
      <Diff title="Message" one={one.body} other={other.body} />
    </Item>
  )
}

/** The bodies of two requests and of their responses, side by side. */
export function CompareRequests({ keys: [first, second] }: CompareProps) {
  const loaded = [useAction('readRequest', { key: first }, 0), useAction('readRequest', { key: second }, 0)]
  const [one, other] = loaded.map(({ value }) => value)
  if (!one || !other) return <Absent back="/requests" loaded={loaded} />
  const nameOf = (request: RequestView) => ({
    ...request,
    to: requestTable.linkTo(request),
    name: requestTable.titleOf(request),
  })
  const queryOf = ({ query }: RequestView) =>
    Object.entries(query)
      .map(([name, values]) => `${name}: ${values.join(', ')}`)
      .join('\n')
  return (
    <Item title="Compare two calls" back="/requests">
      <Sides one={nameOf(one)} other={nameOf(other)} />
      <Diff title="Query" one={queryOf(one)} other={queryOf(other)} />
      <Diff title="Body" one={one.body?.text} other={other.body?.text} />
      <Diff title="Response" one={one.response?.body.text} other={other.response?.body.text} />
    </Item>
  )
}

const Absent = ({ back, loaded }: { back: string; loaded: readonly { readonly error?: string }[] }) => (
  <AbsentItem title="Compare" back={back} error={loaded.find(({ error }) => error !== undefined)?.error} />
)

interface Side {
  readonly to: string
  readonly name: string
  readonly at: number
}

const Sides = (sides: { one: Side; other: Side }) => (
  <div class="diff sides">
    {[sides.one, sides.other].map(({ to, name, at }, index) => (
      <span key={index === 0 ? 'one' : 'other'}>
        <Link to={to}>
          <Text>{name}</Text>
        </Link>{' '}
        <span class="muted">
          <Time ms={at} />
        </span>
      </span>
    ))}
  </div>
)

/** Two texts side by side. JSON is compared with one field in each line. */
function Diff({
  title,
  one = '',
  other = '',
}: {
  title: string
  one?: string | undefined
  other?: string | undefined
}) {
  if (one === '' && other === '') return null
  const lines = diffLines(linesOf(one), linesOf(other))
  const changes = lines.filter(([left, right]) => left !== right).length
  return (
    <>
      <h3 class="minor">
        {title}: {changes === 0 ? 'no difference' : `${amount(changes)} different ${changes === 1 ? 'line' : 'lines'}`}
      </h3>
      <div class="diff code">
        {lines
          .slice(0, MAX_LINES)
          .flatMap(([left, right], index) =>
            left === right
              ? [<span key={`${index} left`}>{shown(left)}</span>, <span key={`${index} right`}>{shown(right)}</span>]
              : [<del key={`${index} left`}>{shown(left)}</del>, <ins key={`${index} right`}>{shown(right)}</ins>],
          )}
      </div>
      {lines.length > MAX_LINES && (
        <p class="more muted">
          The first {amount(MAX_LINES)} of {amount(lines.length)} lines
        </p>
      )}
    </>
  )
}

const shown = (line: string | undefined): string => toVisible(line ?? '')

function linesOf(text: string): readonly string[] {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2).split('\n')
  } catch {
    return text.split('\n')
  }
}
