import type { DeliveryRow } from '../../../protocol.ts'
import { perform, run, useAnswer } from '../../actions.ts'
import { deliveries, service } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Content } from '../../parts/json.tsx'
import { AbsentItem, Facts, Item } from '../../parts/panel.tsx'
import { OneLine } from '../../parts/text.tsx'
import { go, pathOf } from '../../route.ts'
import { Attempts } from './attempts.tsx'
import { StateBadge } from './deliveries.tsx'

/** A delivery with its attempts, and buttons that send the message again. */
export function Delivery({ deliveryKey: key }: { deliveryKey: string }) {
  const live = deliveries.value.rows.find((row) => row.key === key)
  const { value: delivery, error } = useAnswer('readDelivery', { key }, live)
  if (!delivery) return <AbsentItem title="Delivery" back="/webhooks" error={error} />
  const row = live ?? delivery
  return (
    <Item title={delivery.type} back="/webhooks">
      <p class="line">
        <StateBadge row={row} />
        {row.isFromConsole && <Badge>console</Badge>}
        <code class="one-line">
          <OneLine>{delivery.url}</OneLine>
        </code>
      </p>
      <SendAgain row={row} />
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

/** Two buttons that do the same. Their hints explain two reasons to redeliver a message. */
function SendAgain({ row }: { row: DeliveryRow }) {
  const isRegistered = service.value.webhooks.some(
    ({ hook_id, urls }) => hook_id === row.hook_id && urls.includes(row.url),
  )
  const obstacle = row.isTest
    ? 'The Test tool sends a message once. Use "Test webhook" to send another.'
    : !isRegistered && 'The endpoint is no longer registered.'
  const redeliver = async () => {
    const { key } = await perform('redeliver', { key: row.key })
    go(pathOf('webhooks', 'deliveries', key))
  }
  const button = (label: string) => (
    <button type="button" disabled={obstacle !== false} onClick={() => run(redeliver, 'The message was sent again.')}>
      {label}
    </button>
  )
  return (
    <div class="again">
      {button('Redeliver')}
      <p class="hint">For a message that your endpoint missed. Sends it again, with up to four retries.</p>
      {button('Send the same ID again')}
      <p class="hint">For a test of duplicates. Sends the same bytes again: your handler must not run twice.</p>
      {obstacle && <p class="needs">{obstacle}</p>}
    </div>
  )
}
