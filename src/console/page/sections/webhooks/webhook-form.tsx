import type { WebhookRecord } from 'campaign-client/testing'
import { notify, perform } from '../../actions.ts'
import { refresh, service } from '../../live.ts'
import { Form, TextField } from '../../parts/form.tsx'
import { AbsentItem, Item } from '../../parts/panel.tsx'
import { go } from '../../route.ts'

/** A form that adds an endpoint (`new`) or changes one. */
export function WebhookForm({ hookId }: { hookId: string }) {
  const known = service.value.webhooks.find(({ hook_id }) => hook_id === hookId)
  if (!known && hookId !== 'new')
    return <AbsentItem title={hookId} back="/webhooks" error="There is no such endpoint." />
  return (
    <Item title={known?.hook_id ?? 'Add an endpoint'} back="/webhooks">
      <Fields known={known} />
    </Item>
  )
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** An unchecked checkbox has no value. */
type Values = Readonly<Record<'urls' | 'secret' | 'scope' | 'campaigns', string>> & {
  readonly newId?: string
  readonly unsigned?: string
}

function Fields({ known }: { known: WebhookRecord | undefined }) {
  const save = async ({ urls, secret, scope, campaigns, newId, unsigned }: Values) => {
    await perform('saveWebhook', {
      ...(known ? { hook_id: known.hook_id } : newId && { newId }),
      ...(unsigned ? { secret: '' } : secret && { secret }),
      ...{ urls: wordsOf(urls), scope, campaigns: wordsOf(campaigns) },
    })
    await refresh()
    notify(known ? 'The endpoint was changed.' : 'The endpoint was added.')
    go('/webhooks')
  }
  return (
    <Form class="form" label="Endpoint" onSubmit={save}>
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
      {!known && <TextField name="newId" label="Hook ID" hint="Leave it empty to get a generated ID." />}
      <div class="buttons">
        <button type="submit" class="primary">
          {known ? 'Save' : 'Add'}
        </button>
      </div>
    </Form>
  )
}

function secretHint(known: WebhookRecord | undefined): string {
  if (known?.signed) return 'Leave it empty to keep the current secret.'
  return !known && service.value.hasSecret
    ? 'Leave it empty to use CAMPAIGN_WEBHOOK_SECRET.'
    : 'Leave it empty to send messages without a signature.'
}
