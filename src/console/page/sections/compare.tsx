import { toVisible } from '../../../shared/text.ts'
import type { DeliveryView, RequestView } from '../../protocol.ts'
import { useAction } from '../actions.ts'
import { diffLines } from '../diff.ts'
import { Link } from '../parts/controls.tsx'
import { AbsentItem, Item } from '../parts/panel.tsx'
import { count, safe, Time, titleOf } from '../parts/text.tsx'
import { linkTo as linkToDelivery } from './deliveries.tsx'
import { linkTo as linkToRequest } from './requests.tsx'

const MAX_LINES = 2000

interface CompareProps {
  readonly read: 'readRequest' | 'readDelivery'
  readonly keys: readonly [string, string]
}

/** Two calls with their responses, or the messages of two deliveries, side by side. */
export function Compare({ read, keys: [first, second] }: CompareProps) {
  const [one, other] = [useAction(read, { key: first }, 0), useAction(read, { key: second }, 0)]
  const back = read === 'readRequest' ? '/requests' : '/webhooks'
  if (!one.value || !other.value) return <AbsentItem title="Compare" back={back} error={one.error ?? other.error} />
  const [left, right] = [sideOf(one.value), sideOf(other.value)]
  return (
    <Item title={read === 'readRequest' ? 'Compare two calls' : 'Compare two messages'} back={back}>
      <div class="diff">{[left.name, right.name]}</div>
      {Object.entries(left.texts).map(([name, text]) => (
        <Diff key={name} title={name} one={text} other={right.texts[name]} />
      ))}
    </Item>
  )
}

/** Returns the name of a call or a message, and the texts to compare. */
function sideOf(view: RequestView | DeliveryView) {
  const [to, name] = 'method' in view ? [linkToRequest(view), titleOf(view)] : [linkToDelivery(view), view.type]
  const texts: Readonly<Record<string, string | undefined>> =
    'method' in view
      ? { Query: queryOf(view), Body: view.body?.text, Response: view.response?.body.text }
      : { Message: view.body }
  return { name: <SideName key={view.key} to={to} name={name} at={view.at} />, texts }
}

const queryOf = ({ query }: RequestView): string =>
  Object.entries(query)
    .map(([name, values]) => `${name}: ${values.join(', ')}`)
    .join('\n')

const SideName = ({ to, name, at }: { to: string; name: string; at: number }) => (
  <p class="flow">
    <Link to={to} text={safe(name)} />
    <Time ms={at} class="muted" />
  </p>
)

type DiffProps = Readonly<Record<'one' | 'other', string | undefined>> & { readonly title: string }

/** Two texts side by side. JSON is compared with one field in each line. */
function Diff({ title, one = '', other = '' }: DiffProps) {
  if (one === '' && other === '') return null
  const lines = diffLines(linesOf(one), linesOf(other))
  const changes = lines.filter(([left, right]) => left !== right).length
  return (
    <>
      <h3 class="minor">
        {title}: {changes === 0 ? 'no difference' : count(changes, 'different line')}
      </h3>
      <div class="diff code">
        {lines.slice(0, MAX_LINES).flatMap((line, index) => {
          const [Left, Right] = line[0] === line[1] ? (['span', 'span'] as const) : (['del', 'ins'] as const)
          return [
            <Left key={`${index} left`}>{toVisible(line[0] ?? '')}</Left>,
            <Right key={`${index} right`}>{toVisible(line[1] ?? '')}</Right>,
          ]
        })}
      </div>
      {lines.length > MAX_LINES && (
        <p class="hint">
          The first {MAX_LINES} of {count(lines.length, 'line')}
        </p>
      )}
    </>
  )
}

function linesOf(text: string): readonly string[] {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2).split('\n')
  } catch {
    return text.split('\n')
  }
}
