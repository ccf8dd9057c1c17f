import type { WebhookView } from '../../protocol.ts'
import { attempt, perform } from '../actions.ts'
import { webhooks } from '../live.ts'
import { Badge } from '../parts/badge.tsx'
import { Link } from '../parts/link.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Text } from '../parts/text.tsx'
import { go, pathOf } from '../route.ts'
import { Deliveries } from './deliveries.tsx'

export function Webhooks({ brief = false, current }: { brief?: boolean; current?: string | undefined }) {
  const add = (
    <Link to="/webhooks/new" class="button small">
      Add an endpoint
    </Link>
  )
  return (
    <Panel title="Webhooks" tools={add} all={brief ? '/webhooks' : undefined}>
      {webhooks.value.length === 0 ? (
        <Empty>No endpoint is registered: nobody is told of what happens.</Empty>
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
      <Deliveries brief={brief} />
    </Panel>
  )
}

function WebhookLine({ webhook, isCurrent, brief }: { webhook: WebhookView; isCurrent: boolean; brief: boolean }) {
  const { hook_id, scope, urls, signed, campaigns } = webhook
  const remove = () => attempt(() => perform('removeWebhook', { hook_id }), 'The endpoint is removed.')
  return (
    <li class={isCurrent ? 'row endpoint current' : 'row endpoint'}>
      <span class="grow two-lines">
        <span class="urls">
          {urls.map((url) => (
            <code key={url}>
              <Text>{url}</Text>
            </code>
          ))}
        </span>
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
      <Badge tone={signed ? 'good' : 'warn'}>{signed ? 'signed' : 'unsigned'}</Badge>
      {!brief && (
        <>
          <button
            type="button"
            class="small"
            onClick={() => go(pathOf('webhooks', hook_id))}
            aria-label={`Edit ${hook_id}`}
          >
            Edit
          </button>
          <button type="button" class="small danger" onClick={remove} aria-label={`Remove ${hook_id}`}>
            Remove
          </button>
        </>
      )}
    </li>
  )
}
