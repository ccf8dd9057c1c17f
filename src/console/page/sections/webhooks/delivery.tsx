import type { DeliveryRow } from '../../../protocol.ts'
import { attempt, perform, useAnswer } from '../../actions.ts'
import { deliveries, webhooks } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Content } from '../../parts/json.tsx'
import { AbsentItem, Facts, Item } from '../../parts/panel.tsx'
import { OneLine } from '../../parts/text.tsx'
import { go, pathOf } from '../../route.ts'
import { Attempts } from './attempts.tsx'
import { STATE_TONES, stateOf } from './deliveries.tsx'

/** A message to an endpoint and its attempts, to be sent again. */
export function Delivery({ deliveryKey: key }: { deliveryKey: string }) {
  const live = deliveries.value.find((row) => row.key === key)
  const { value: delivery, error } = useAnswer('readDelivery', { key }, live)
  if (!delivery) return <AbsentItem title="Delivery" back="/webhooks" error={error} />
  const row = live ?? delivery
  return (
    <Item title={delivery.type} back="/webhooks">
      <p class="line">
        <Badge tone={STATE_TONES[row.state]}>{stateOf(row)}</Badge>
        {row.isFromConsole && <Badge>console</Badge>}
        <code class="one-line">
          <OneLine>{delivery.url}</OneLine>
        </code>
      </p>
      <Again row={row} />
      <Attempts delivery={row} made={delivery.attemptsMade} />
      <div class="minor-head">
        <h3 class="minor">Message</h3>
        <CopyButton text={delivery.body} label="Copy the exact bytes" />
      </div>
      <Facts
        facts={[
          ['Message ID', delivery.id],
          ['User', delivery.user],
          ['x-service-signature', row.isTest ? '' : (delivery.signature ?? 'none: the endpoint has no secret')],
        ]}
      />
      <Content text={delivery.body} />
    </Item>
  )
}

/** The buttons that send the message again, each with its purpose. */
function Again({ row }: { row: DeliveryRow }) {
  const isRegistered = webhooks.value.some(({ hook_id, urls }) => hook_id === row.hook_id && urls.includes(row.url))
  const obstacle = row.isTest
    ? 'The Test tool sends a message once. Use "Test webhook" to send another.'
    : isRegistered
      ? undefined
      : 'The endpoint is no longer registered.'
  const send = (done: string) =>
    attempt(async () => {
      const again = await perform('redeliver', { key: row.key })
      go(pathOf('deliveries', again.key))
    }, done)
  return (
    <div class="again">
      <button type="button" disabled={obstacle !== undefined} onClick={() => send('The message is on its way again.')}>
        Redeliver
      </button>
      <p class="hint">For a message that your endpoint missed. Sends it again, with up to four retries.</p>
      <button
        type="button"
        disabled={obstacle !== undefined}
        onClick={() => send('The same message, with the same ID, is on its way.')}
      >
        Send the same ID again
      </button>
      <p class="hint">For a test of duplicates. Sends the same bytes once more: your handler must not run twice.</p>
      {obstacle !== undefined && <p class="needs">{obstacle}</p>}
    </div>
  )
}
