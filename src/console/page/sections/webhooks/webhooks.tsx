import type { WebhookRecord } from 'campaign-client/testing'
import { perform, run } from '../../actions.ts'
import { deliveries, service } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Link } from '../../parts/link.tsx'
import { Empty, Panel } from '../../parts/panel.tsx'
import { OneLine, Text } from '../../parts/text.tsx'
import { pathOf } from '../../route.ts'
import { Deliveries, DeliveryTable } from './deliveries.tsx'
import { EmitEvent } from './emit-event.tsx'
import { TestWebhook } from './test-webhook.tsx'

/** The endpoints, the forms that send messages, and the deliveries. */
export const WebhooksPage = () => (
  <>
    <Webhooks />
    <div class="forms">
      <TestWebhook />
      <EmitEvent />
    </div>
    <Deliveries />
  </>
)

/** The endpoints. With `brief`, also the latest deliveries. */
export function Webhooks({ brief = false }: { brief?: boolean }) {
  const { webhooks } = service.value
  const { rows } = deliveries.value
  const add = (
    <Link to="/webhooks/new" class="button small">
      Add an endpoint
    </Link>
  )
  return (
    <Panel title="Webhooks" tools={add} all={brief ? '/webhooks' : undefined}>
      {webhooks.length === 0 && <Empty>No endpoint is registered, so no message is sent.</Empty>}
      <ul class="rows">
        {webhooks.map((webhook) => (
          <WebhookLine key={webhook.hook_id} webhook={webhook} brief={brief} />
        ))}
      </ul>
      {brief && rows.length > 0 && (
        <>
          <h3 class="minor">Latest deliveries</h3>
          <DeliveryTable rows={rows.slice(0, 6)} />
        </>
      )}
    </Panel>
  )
}

function WebhookLine({ webhook, brief }: { webhook: WebhookRecord; brief: boolean }) {
  const { hook_id, scope, urls, campaigns, signed, secretMissing } = webhook
  const only = campaigns.length > 0 ? ` · only ${campaigns.join(', ')}` : ''
  return (
    <li class="row endpoint">
      <span class="grow two-lines">
        {urls.map((url) => (
          <OneLine key={url} class="path">
            {url}
          </OneLine>
        ))}
        <span class="muted">
          <Text>{`${hook_id} · ${scope}${only}`}</Text>
        </span>
      </span>
      <Badge tone={signed ? 'good' : 'warn'}>{signed ? 'signed' : secretMissing ? 'secret missing' : 'unsigned'}</Badge>
      {!brief && (
        <span class="row-buttons">
          <Link to={`/webhooks?test=${encodeURIComponent(hook_id)}`} class="button small" label={`Test ${hook_id}`}>
            Test
          </Link>
          <Link to={pathOf('webhooks', hook_id)} class="button small" label={`Edit ${hook_id}`}>
            Edit
          </Link>
          <ConfirmButton
            label="Remove"
            name={`Remove ${hook_id}`}
            class="small danger"
            question="Remove this endpoint?"
            yes="Remove it"
            no="Keep it"
            onConfirm={() => run(() => perform('removeWebhook', { hook_id }), 'The endpoint was removed.')}
          >
            This removes the URL <Text>{urls.join(', ')}</Text> and the secret. Deliveries that wait for a retry are
            dropped.
          </ConfirmButton>
        </span>
      )}
    </li>
  )
}
