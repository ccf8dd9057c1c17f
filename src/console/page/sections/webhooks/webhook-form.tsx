import type { WebhookRecord } from '../../../../testing/webhooks/webhook-registry.ts'
import { Problem } from '../../../action-requests.ts'
import { notify, perform } from '../../actions.ts'
import { deliveries, refresh, service } from '../../live.ts'
import { Form, TextField } from '../../parts/form.tsx'
import { AbsentItem, Item } from '../../parts/panel.tsx'
import { filterQuery, go } from '../../route.ts'

/** A form that changes a webhook, or adds one if `hookId` is absent. */
export function WebhookForm({ hookId }: { hookId: string | undefined }) {
  const known = service.value.webhooks.find(({ hook_id }) => hook_id === hookId)
  if (!known && hookId !== undefined) {
    return <AbsentItem title={hookId} back="/webhooks" error="There is no such webhook." />
  }
  return (
    <Item title={known?.hook_id ?? 'Add a webhook'} back="/webhooks">
      <Fields known={known} />
    </Item>
  )
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** An unchecked checkbox has no value. */
type Values = Readonly<Record<'urls' | 'secret' | 'scope' | 'campaigns', string>> & {
  readonly hook_id?: string
  readonly unsigned?: string
}

function Fields({ known }: { known: WebhookRecord | undefined }) {
  const save = async ({ urls, secret, scope, campaigns, hook_id = '', unsigned }: Values) => {
    const newId = hook_id.trim()
    if (service.value.webhooks.some((other) => other.hook_id === newId)) {
      throw new Problem(`Another webhook has the ID "${newId}".`, 'hook_id')
    }
    await perform('saveWebhook', {
      ...(known ? { hook_id: known.hook_id } : newId && { hook_id: newId }),
      ...(unsigned ? { secret: '' } : secret && { secret }),
      urls: wordsOf(urls),
      scope,
      campaigns: wordsOf(campaigns),
    })
    await refresh()
    notify(
      known
        ? `The webhook was changed.${noteOnRetries(known, secret !== '' || unsigned !== undefined)}`
        : 'The webhook was added.',
    )
    go(`/webhooks${filterQuery.value}`)
  }
  return (
    <Form class="form" label="Webhook" submit={known ? 'Save' : 'Add'} onSubmit={save}>
      <TextField
        name="urls"
        label="URL"
        rows={2}
        placeholder="http://127.0.0.1:3000/webhooks/campaign"
        defaultValue={known?.urls.join('\n') ?? ''}
        hint="One URL per line. Each gets the same message."
      />
      <TextField name="secret" label="Secret" type="password" hint={secretHint(known)} />
      {known?.signed && (
        <label>
          <input type="checkbox" name="unsigned" /> Remove the secret and send messages without a signature
        </label>
      )}
      <TextField name="scope" label="Scope" defaultValue={known?.scope ?? 'user_activity'} />
      <TextField
        name="campaigns"
        label="Only campaigns"
        defaultValue={known?.campaigns.join(', ') ?? ''}
        hint="Campaign IDs, separated by commas. Leave it empty for all."
      />
      {!known && <TextField name="hook_id" label="Hook ID" hint="Leave it empty to get a generated ID." />}
    </Form>
  )
}

/** A message is signed when it is queued, not when it is sent. */
function noteOnRetries({ hook_id }: WebhookRecord, isSecretChanged: boolean): string {
  const isWaiting = deliveries.value.rows.some((row) => row.hook_id === hook_id && row.state === 'pending')
  if (!isSecretChanged || !isWaiting) return ''
  return ' Retries that wait keep the signature of the old secret: redeliver a message to sign it with the new one.'
}

function secretHint(known: WebhookRecord | undefined): string {
  if (known?.signed) return 'Leave it empty to keep the current secret.'
  return !known && service.value.hasSecret
    ? 'Leave it empty to use CAMPAIGN_WEBHOOK_SECRET.'
    : 'Leave it empty to send messages without a signature.'
}
