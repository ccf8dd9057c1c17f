import type { WebhookRecord } from '../../../../testing/webhooks/webhook-registry.ts'
import { perform, run } from '../../actions.ts'
import { service } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Link } from '../../parts/link.tsx'
import { Empty, Panel } from '../../parts/panel.tsx'
import { OneLine, Text } from '../../parts/text.tsx'
import { pathOf } from '../../route.ts'
import { Deliveries } from './deliveries.tsx'

/** The webhooks and the deliveries of their messages. */
export const WebhooksPage = () => (
  <>
    <Webhooks />
    <Deliveries />
  </>
)

function Webhooks() {
  const { webhooks } = service.value
  const tools = (
    <Link to="/webhooks/new" keepsFilters class="button small">
      Add a webhook
    </Link>
  )
  return (
    <Panel title="Webhooks" tools={tools}>
      {webhooks.length === 0 && <Empty>No webhook is registered, so no message is sent.</Empty>}
      <ul class="lines">
        {webhooks.map((webhook) => (
          <WebhookLine key={webhook.hook_id} webhook={webhook} />
        ))}
      </ul>
    </Panel>
  )
}

function WebhookLine({ webhook }: { webhook: WebhookRecord }) {
  const { hook_id, scope, urls, campaigns, signed, secretMissing } = webhook
  const only = campaigns.length > 0 ? ` · only ${campaigns.join(', ')}` : ''
  return (
    <li class="line-item webhook">
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
      <span class="row-buttons">
        <Link to={pathOf('webhooks', 'test', hook_id)} keepsFilters class="button small" label={`Test ${hook_id}`}>
          Test
        </Link>
        <Link to={pathOf('webhooks', 'edit', hook_id)} keepsFilters class="button small" label={`Edit ${hook_id}`}>
          Edit
        </Link>
        <ConfirmButton
          label="Remove"
          name={`Remove ${hook_id}`}
          class="small danger"
          question="Remove this webhook?"
          yes="Remove it"
          no="Keep it"
          onConfirm={() => run(() => perform('removeWebhook', { hook_id }), 'The webhook was removed.')}
        >
          This removes the URL <Text>{urls.join(', ')}</Text> and the secret. Deliveries that wait for a retry are
          dropped.
        </ConfirmButton>
      </span>
    </li>
  )
}
