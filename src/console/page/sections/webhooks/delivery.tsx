import type { DeliveryRow } from '../../../protocol.ts'
import { perform, run, useAction } from '../../actions.ts'
import { deliveries, requests, service } from '../../live.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Content } from '../../parts/json.tsx'
import { Link } from '../../parts/link.tsx'
import { AbsentItem, CompareLink, Facts, Item } from '../../parts/panel.tsx'
import { TitledRows } from '../../parts/rows.tsx'
import { OneLine, Text } from '../../parts/text.tsx'
import { UserLink } from '../../parts/user-link.tsx'
import { filterQuery, go, pathOf } from '../../route.ts'
import { titleOf } from '../requests.tsx'
import { Attempts } from './attempts.tsx'
import { deliveryView, linkTo, StateBadge } from './deliveries.tsx'
import { editPath } from './edit-message.tsx'

/** A delivery with its attempts, the request that caused it, and a button that sends the message again. */
export function Delivery({ deliveryKey: key }: { deliveryKey: string }) {
  const { rows } = deliveries.value
  const live = rows.find((row) => row.key === key)
  const { value: delivery, error } = useAction('readDelivery', { key }, live)
  if (!delivery) return <AbsentItem title="Delivery" back="/webhooks" error={error} />
  const row = live ?? delivery
  const { id, hook_id, url } = delivery
  const others = rows.filter(
    (each) => each.key !== key && each.id === id && each.hook_id === hook_id && each.url === url,
  )
  const cause = requests.value.rows.find((each) => each.key === row.cause)
  return (
    <Item
      title={delivery.type}
      back="/webhooks"
      tools={
        <>
          {delivery.curl !== undefined && <CopyButton text={delivery.curl} label="Copy as curl" />}
          <Link to={editPath(key)} keepsFilters class="button small">
            Edit and send
          </Link>
          <CompareLink back="/webhooks" itemKey={key} />
        </>
      }
    >
      <p class="line">
        <StateBadge row={row} />
        <code class="one-line">
          <OneLine>{delivery.url}</OneLine>
        </code>
      </p>
      {cause && (
        <p class="line muted">
          Caused by{' '}
          <Link to={pathOf('requests', cause.key)}>
            <Text>{titleOf(cause)}</Text>
          </Link>
        </p>
      )}
      <Redeliver row={row} />
      <Attempts delivery={row} made={delivery.attemptsMade} />
      <TitledRows title="Other deliveries of this message" rows={others} linkTo={linkTo} view={deliveryView} />
      <div class="minor-head">
        <h3 class="minor">Message</h3>
        <CopyButton text={delivery.body} label="Copy the exact bytes" />
      </div>
      <Facts
        facts={[
          [
            'Message ID',
            <Link key="id" to={`/webhooks?find=${encodeURIComponent(delivery.id)}`}>
              <Text>{delivery.id}</Text>
            </Link>,
          ],
          ['User ID', delivery.user && <UserLink user={delivery.user} pid={delivery.pid} />],
          ['x-service-signature', row.isTest ? '' : (delivery.signature ?? 'none: the webhook has no secret')],
        ]}
      />
      <Content text={delivery.body} />
    </Item>
  )
}

function Redeliver({ row }: { row: DeliveryRow }) {
  const isRegistered = service.value.webhooks.some(
    ({ hook_id, urls }) => hook_id === row.hook_id && urls.includes(row.url),
  )
  const obstacle = row.isTest
    ? 'The Test tool sends a message once. Use "Test" to send another.'
    : !isRegistered && 'The webhook no longer has this URL.'
  const redeliver = async () => {
    const { key } = await perform('redeliver', { key: row.key })
    go(linkTo({ ...row, key }) + filterQuery.value)
  }
  return (
    <div class="again">
      <button type="button" disabled={obstacle !== false} onClick={() => run(redeliver, 'The message was sent again.')}>
        Redeliver
      </button>
      <p class="hint">
        Sends the same bytes with the same ID again, signed with the current secret. A handler that ran must not run
        twice.
      </p>
      {obstacle && <p class="needs">{obstacle}</p>}
    </div>
  )
}
