import type { WebhookRecord } from 'campaign-client/testing'
import { attempt, perform } from '../../actions.ts'
import { deliveries, webhooks } from '../../live.ts'
import { Badge } from '../../parts/badge.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Link } from '../../parts/link.tsx'
import { Empty, Panel } from '../../parts/panel.tsx'
import { OneLine, Text } from '../../parts/text.tsx'
import { go, pathOf, setParameter, steps } from '../../route.ts'
import { Deliveries, DeliveryTable } from './deliveries.tsx'
import { EmitEvent } from './emit-event.tsx'
import { TestWebhook } from './test-webhook.tsx'

/** The endpoints, the forms that send to them, and what was sent. */
export const WebhooksPage = ({ current }: { current: string | undefined }) => (
  <>
    <Webhooks current={current} />
    <div class="forms">
      <TestWebhook />
      <EmitEvent />
    </div>
    <Deliveries current={current} />
  </>
)

/** The endpoints; in brief with the latest deliveries. */
export function Webhooks({ brief = false, current }: { brief?: boolean; current?: string | undefined }) {
  const add = (
    <Link to="/webhooks/new" class="button small">
      Add an endpoint
    </Link>
  )
  return (
    <Panel title="Webhooks" tools={add} all={brief ? '/webhooks' : undefined}>
      {webhooks.value.length === 0 ? (
        <Empty>No endpoint is registered, so no message is sent.</Empty>
      ) : (
        <ul class="rows">
          {webhooks.value.map((webhook) => (
            <WebhookLine
              key={webhook.hook_id}
              webhook={webhook}
              isCurrent={webhook.hook_id === current}
              brief={brief}
            />
          ))}
        </ul>
      )}
      {brief && deliveries.value.length > 0 && (
        <>
          <h3 class="minor">Latest deliveries</h3>
          <DeliveryTable rows={deliveries.value.slice(0, 6)} />
        </>
      )}
    </Panel>
  )
}

interface WebhookLineProps {
  readonly webhook: WebhookRecord
  readonly isCurrent: boolean
  readonly brief: boolean
}

function WebhookLine({ webhook, isCurrent, brief }: WebhookLineProps) {
  const { hook_id, scope, urls, campaigns } = webhook
  const test = () => {
    if (steps.value[0] !== 'webhooks' || steps.value.length > 1) go('/webhooks')
    setParameter('test', hook_id)
  }
  return (
    <li class={isCurrent ? 'row endpoint current' : 'row endpoint'}>
      <span class="grow two-lines">
        {urls.map((url) => (
          <OneLine key={url} class="path">
            {url}
          </OneLine>
        ))}
        <span class="muted">
          <Text>{hook_id}</Text> · <Text>{scope}</Text>
          {campaigns.length > 0 && (
            <>
              {' '}
              · only <Text>{campaigns.join(', ')}</Text>
            </>
          )}
        </span>
      </span>
      <Signed webhook={webhook} />
      {!brief && (
        <span class="row-buttons">
          <button type="button" class="small" onClick={test} aria-label={`Test ${hook_id}`}>
            Test
          </button>
          <button
            type="button"
            class="small"
            onClick={() => go(pathOf('webhooks', hook_id))}
            aria-label={`Edit ${hook_id}`}
          >
            Edit
          </button>
          <ConfirmButton
            label="Remove"
            name={`Remove ${hook_id}`}
            class="small danger"
            question="Remove this endpoint?"
            yes="Remove it"
            no="Keep it"
            onConfirm={() => attempt(() => perform('removeWebhook', { hook_id }), 'The endpoint is removed.')}
          >
            Its secret is forgotten, and deliveries that wait for a retry are dropped: <Text>{urls.join(', ')}</Text>
          </ConfirmButton>
        </span>
      )}
    </li>
  )
}

function Signed({ webhook: { signed, secretMissing } }: { webhook: WebhookRecord }) {
  if (signed) return <Badge tone="good">signed</Badge>
  return <Badge tone="warn">{secretMissing ? 'secret missing' : 'unsigned'}</Badge>
}
