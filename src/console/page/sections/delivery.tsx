import { attempt, perform, useAnswer } from '../actions.ts'
import { deliveries } from '../live.ts'
import { Timeline } from '../parts/attempts.tsx'
import { Badge } from '../parts/badge.tsx'
import { Body } from '../parts/code.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Item, Pending } from '../parts/panel.tsx'
import { Text } from '../parts/text.tsx'
import { go, pathOf } from '../route.ts'

const TONES = { pending: 'busy', delivered: 'good', undelivered: 'bad', dropped: 'plain' } as const

/** A message and its attempts, to be sent again. */
export function Delivery({ id: key }: { id: string }) {
  const live = deliveries.value.find((row) => row.key === key)
  const { value: delivery, error } = useAnswer('readDelivery', { key }, live)
  if (!delivery) {
    return (
      <Item title="Delivery" back="/webhooks">
        <Pending error={error} />
      </Item>
    )
  }
  const redeliver = () =>
    attempt(async () => {
      const again = await perform('redeliver', { key })
      go(pathOf('deliveries', again.key))
    }, 'The same message, with the same ID, is on its way again.')
  return (
    <Item
      title={<Text>{delivery.type}</Text>}
      back="/webhooks"
      tools={
        <button type="button" class="primary" onClick={redeliver}>
          {delivery.state === 'delivered' ? 'Same ID again' : 'Redeliver'}
        </button>
      }
    >
      <p class="line">
        <Badge tone={TONES[delivery.state]}>{delivery.state}</Badge>
        <code>
          <Text>{delivery.url}</Text>
        </code>
      </p>
      <Timeline delivery={live ?? delivery} />
      <h3 class="minor">Message</h3>
      <dl class="facts">
        <div>
          <dt>Message ID</dt>
          <dd>
            <Text>{delivery.id}</Text>
          </dd>
        </div>
        <div>
          <dt>x-service-signature</dt>
          <dd>{delivery.signature ? <code>{delivery.signature}</code> : 'none: the webhook has no secret'}</dd>
        </div>
      </dl>
      <Body text={delivery.body} />
      <CopyButton text={delivery.body} label="Copy the exact bytes" />
    </Item>
  )
}
